#include "lib/base/system_user.hpp"

#include <algorithm>

#include <grp.h>
#include <pwd.h>

namespace sluice {
namespace {

// The room that the library writes an entry's texts to.
constexpr std::size_t kNameBuffer = 16'384;

template <typename Find>
std::optional<SystemUser> find_user(const Find& find) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> buffer(kNameBuffer);
    (void)find(&entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) {
        return std::nullopt;
    }
    return SystemUser{entry.pw_uid, entry.pw_gid, entry.pw_name};
}

}  // namespace

Result<SystemUser> user_named(const std::string& name) {
    std::optional<SystemUser> user =
        find_user([&](auto... to) { return ::getpwnam_r(name.c_str(), to...); });
    if (!user) {
        return Error{Errc::OutOfRange, "there is no user " + name};
    }
    return *std::move(user);
}

Result<gid_t> group_named(const std::string& name) {
    group entry{};
    group* found = nullptr;
    std::vector<char> buffer(kNameBuffer);
    (void)::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) {
        return Error{Errc::OutOfRange, "there is no group " + name};
    }
    return entry.gr_gid;
}

std::string group_name(gid_t gid) {
    group entry{};
    group* found = nullptr;
    std::vector<char> buffer(kNameBuffer);
    (void)::getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found);
    return found == nullptr ? std::to_string(gid) : entry.gr_name;
}

std::optional<SystemUser> user_of(uid_t uid) {
    return find_user([&](auto... to) { return ::getpwuid_r(uid, to...); });
}

std::vector<gid_t> groups_of(const SystemUser& user, gid_t primary) {
    int count = 0;
    (void)::getgrouplist(user.name.c_str(), primary, nullptr, &count);
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 1)));
    count = static_cast<int>(groups.size());
    if (::getgrouplist(user.name.c_str(), primary, groups.data(), &count) < 0) {
        return {};
    }
    groups.resize(static_cast<std::size_t>(count));
    return groups;
}

}  // namespace sluice
