#pragma once
#include <sys/types.h>

namespace sluice {

// The number of Debian's user `nobody`, and of its group `nogroup`: who has no rights but
// everybody's.
inline constexpr uid_t kNobody = 65'534;

}  // namespace sluice
