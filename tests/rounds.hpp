#pragma once
#include <algorithm>

namespace sluice::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLUICE_UNDER_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLUICE_UNDER_SANITIZER 1
#endif

// How often a long test goes round. All of it in the release build, where the answers are checked
// at full length; a sanitizer looks for what a few rounds show as well, and each takes many times
// as long.
[[nodiscard]] constexpr int rounds(int full) {
#ifdef SLUICE_UNDER_SANITIZER
    constexpr int kShare = 6;
    return std::max(1, full / kShare);
#else
    return full;
#endif
}

}  // namespace sluice::test
