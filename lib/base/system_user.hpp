#pragma once
#include "lib/base/result.hpp"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sluice {

// A user of this machine, as its databases (passwd, group) have it.
struct SystemUser {
    uid_t uid;
    gid_t gid;  // of the user's own group
    std::string name;
};

// An Error says that there is no such name.
[[nodiscard]] Result<SystemUser> user_named(const std::string& name);
[[nodiscard]] Result<gid_t> group_named(const std::string& name);
// The name of a group, or its number where it has no name.
[[nodiscard]] std::string group_name(gid_t gid);
[[nodiscard]] std::optional<SystemUser> user_of(uid_t uid);
// All groups of a user whose first one is `primary`; none where they cannot be read.
[[nodiscard]] std::vector<gid_t> groups_of(const SystemUser& user, gid_t primary);

}  // namespace sluice
