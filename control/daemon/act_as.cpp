#include "control/daemon/act_as.hpp"

#include "control/daemon/nobody.hpp"
#include "lib/base/system_user.hpp"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sluice {
namespace {

// The call itself, not the library's, which would change every thread of the process.
bool set_groups(const std::vector<gid_t>& groups) {
    return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
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
    const std::optional<SystemUser> known = user_of(user);
    const gid_t primary = known ? known->gid : kNobody;
    if (!set_groups(known ? groups_of(*known, primary) : std::vector<gid_t>{})) {
        return false;
    }
    groups_before_ = std::move(before);
    // The group first: the user that we become may not change it any more.
    (void)::setfsgid(primary);
    (void)::setfsuid(user);
    // Each call returns the former id; a second one, with an id that cannot be set, the present
    // one.
    return ::setfsgid(static_cast<gid_t>(-1)) == static_cast<int>(primary) &&
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
