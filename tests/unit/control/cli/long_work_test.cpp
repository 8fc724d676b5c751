#include "control/cli/long_work.hpp"

#include <gtest/gtest.h>

namespace sluice::long_work_test {
namespace {

using std::chrono::seconds;

TEST(LongWork, SaysHowFarItIs) {
    EXPECT_EQ(progress_text("apply", 0, 0, seconds{12}), "apply: 12 s");
    EXPECT_EQ(progress_text("replay", 3 << 20, 0, seconds{2}), "replay: 3.0 MiB, 2 s");
    EXPECT_EQ(progress_text("replay", 0, 4 << 20, seconds{1}), "replay: 0 % of 4.0 MiB, 1 s");
    EXPECT_EQ(progress_text("replay", 1 << 20, 4 << 20, seconds{5}),
              "replay: 25 % of 4.0 MiB, 5 s, about 15 s left");
    // A count of a file is an estimate.
    EXPECT_EQ(progress_text("replay", 5 << 20, 4 << 20, seconds{5}),
              "replay: 100 % of 4.0 MiB, 5 s, about 0 s left");
}

TEST(LongWork, KnowsTheSizeOfFilesAlone) {
    EXPECT_EQ(capture_size("-"), 0U);
    EXPECT_EQ(capture_size("/dev/zero"), 0U);
    EXPECT_EQ(capture_size("/nonexistent"), 0U);
    EXPECT_GT(capture_size("/proc/self/exe"), 1000U);
}

}  // namespace
}  // namespace sluice::long_work_test
