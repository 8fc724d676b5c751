#pragma once
#include "lib/base/result.hpp"

#include <string>
#include <string_view>

#include <sys/types.h>

namespace sluice {

// True if sluiced keeps a file or folder of that name in its state directory. All else there is
// somebody else's: the dataplane's, where both have one directory, or the operator's.
[[nodiscard]] bool is_sluiceds_own(std::string_view name);

// Makes what a sluiced of another user has left in a state directory this user's. Only files and
// folders of the list change hands, and no name leads out of the directory: a symbolic link is left
// alone, and a file with a name elsewhere is an Error.
[[nodiscard]] Result<Done> hand_over_own_files(const std::string& state_dir, uid_t user,
                                               gid_t group);

}  // namespace sluice
