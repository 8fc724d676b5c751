#include "lib/capture/timestamp.hpp"

#include <gtest/gtest.h>

namespace sluice::timestamp_test {
namespace {

TEST(CaptureInstant, IsExactToTheNanosecond) {
    static_assert(capture_instant(1'700'000'000, 123'456'789) ==
                  Instant{Nanoseconds{1'700'000'000'123'456'789}});
    static_assert(capture_instant(0, 0) == Instant{});
}

TEST(CaptureInstant, ReadsSecondsAfter2038AsUnsigned) {
    EXPECT_EQ(capture_instant(-1, 5).time_since_epoch().count(),
              ((std::int64_t{1} << 32) - 1) * 1'000'000'000 + 5);
    EXPECT_EQ(capture_instant(-(std::int64_t{1} << 31), 0).time_since_epoch().count(),
              (std::int64_t{1} << 31) * 1'000'000'000);
}

TEST(CaptureInstant, IsClampedToWhatThePipelineCanHold) {
    EXPECT_EQ(capture_instant(INT64_MAX, 0), kLastInstant);
    EXPECT_EQ(capture_instant(4'611'686'018, INT32_MAX), kLastInstant);
    EXPECT_EQ(capture_instant(INT64_MIN, 0), Instant{});
    EXPECT_EQ(capture_instant(0, -1), Instant{});
}

}  // namespace
}  // namespace sluice::timestamp_test
