#pragma once
#include <algorithm>
#include <cstdlib>

namespace sluice::test {

// How many rounds a long test runs: all of them, or a tenth where SLUICE_TEST_ONCE_MORE is in the
// environment: scripts/test sets it for tests that run under a sanitizer after the release build
// has run them at full length.
[[nodiscard]] inline int rounds(int full) {
    constexpr int kShare = 10;
    return std::getenv("SLUICE_TEST_ONCE_MORE") == nullptr ? full : std::max(1, full / kShare);
}

}  // namespace sluice::test
