#include "control/daemon/act_as.hpp"

#include "control/daemon/nobody.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>

namespace sluice {
namespace {

// The call itself, not the library's, which would change every thread of the process.
bool set_groups(const std::vector<gid_t>& groups) {
    return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

struct Groups {
    gid_t primary = kNobody;
    std::vector<gid_t> all;
};

Groups groups_of(uid_t user) {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 16'384> names{};
    (void)::getpwuid_r(user, &entry, names.data(), names.size(), &found);
    if (found == nullptr) {
        return {};
    }
    int count = 0;
    (void)::getgrouplist(entry.pw_name, entry.pw_gid, nullptr, &count);
    Groups groups{entry.pw_gid, std::vector<gid_t>(static_cast<std::size_t>(count))};
    if (::getgrouplist(entry.pw_name, entry.pw_gid, groups.all.data(), &count) < 0) {
        groups.all.clear();
    }
    return groups;
}

}  // namespace

ActAs::ActAs(uid_t user) {
    if (user != 0 && user != ::geteuid()) {
        works_ = become(user);
    }
}

bool ActAs::become(uid_t user) {
    const int count = ::getgroups(0, nullptr);
    std::vector<gid_t> before(static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count < 0 || ::getgroups(count, before.data()) < 0) {
        return false;
    }
    const Groups groups = groups_of(user);
    if (!set_groups(groups.all)) {
        return false;
    }
    groups_before_ = std::move(before);
    // The group first: the user that we become may not change it any more.
    (void)::setfsgid(groups.primary);
    (void)::setfsuid(user);
    // Each call returns the former id; a second one, with an id that cannot be set, the present
    // one.
    return ::setfsgid(static_cast<gid_t>(-1)) == static_cast<int>(groups.primary) &&
           ::setfsuid(static_cast<uid_t>(-1)) == static_cast<int>(user);
}

ActAs::~ActAs() {
    if (groups_before_) {
        (void)::setfsuid(::geteuid());
        (void)::setfsgid(::getegid());
        (void)set_groups(*groups_before_);
    }
}

}  // namespace sluice
