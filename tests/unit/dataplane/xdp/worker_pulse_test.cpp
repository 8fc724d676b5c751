#include "dataplane/xdp/worker_pulse.hpp"

#include <gtest/gtest.h>

namespace sluice::worker_pulse_test {
namespace {

// One look at two workers after the other: the rounds they have made, and up to when all ran.
struct Row {
    std::uint64_t now;
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t all;
};

TEST(WorkerPulse, IsHeldBackByTheWorkerThatStandsStill) {
    WorkerPulse pulse{2};
    for (const Row& row : {Row{100, 0, 0, 0},    // none has begun
                           Row{110, 7, 0, 0},    // one has
                           Row{120, 8, 1, 120},  // both
                           Row{130, 9, 1, 120},  // the second stands still
                           Row{140, 9, 1, 120},  // both do
                           Row{150, 9, 2, 130},  // the first does
                           Row{160, 10, 3, 160}}) {
        const auto rounds = [&](std::size_t worker) {
            return worker == 0 ? row.first : row.second;
        };
        EXPECT_EQ(pulse.look(rounds, row.now), row.all) << row.now;
    }
}

TEST(WorkerPulse, WithoutWorkersThereIsNone) {
    WorkerPulse pulse{0};
    EXPECT_EQ(pulse.look([](std::size_t) { return std::uint64_t{1}; }, 5), 0U);
}

}  // namespace
}  // namespace sluice::worker_pulse_test
