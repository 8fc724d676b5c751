#include "control/cli/simulate/load.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::load_test {
namespace {

using namespace std::chrono_literals;

std::vector<Nanoseconds> first(const SimulateOptions& options, std::size_t count) {
    const Result<AskedLoad> load = make_load(options, "", Per::Packet);
    EXPECT_TRUE(load.has_value());
    std::vector<Nanoseconds> times;
    for (std::size_t i = 0; i < count; ++i) {
        times.push_back(load->arrivals()->at.time_since_epoch());
    }
    return times;
}

TEST(Load, ArrivesAsItSays) {
    using Times = std::vector<Nanoseconds>;
    SimulateOptions options;
    options.load = "constant";
    options.offer = "3/s";
    EXPECT_EQ(first(options, 4), (Times{0ns, 333'333'333ns, 666'666'666ns, 1s}));
    options.load = "bursts";
    options.size = "3";
    options.every = "5ms";
    EXPECT_EQ(first(options, 7), (Times{0ns, 0ns, 0ns, 5ms, 5ms, 5ms, 10ms}));
    options.load = "on-off";
    options.offer = "10/s";
    options.on = "200ms";
    options.off = "1s";
    EXPECT_EQ(first(options, 5), (Times{0ms, 100ms, 1200ms, 1300ms, 2400ms}));
}

TEST(Load, PoissonIsTheSameForASeedAndHasTheRate) {
    SimulateOptions options;
    options.load = "poisson";
    options.offer = "1000/s";
    const std::vector<Nanoseconds> times = first(options, 100'000);
    EXPECT_EQ(first(options, 100'000), times);
    options.seed = "2";
    EXPECT_NE(first(options, 100'000), times);
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    // 100 s in the mean, with a standard deviation of 0.3 s.
    EXPECT_GT(times.back(), 98s);
    EXPECT_LT(times.back(), 102s);
    // Gaps above the mean are e^-1 of all.
    int above = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
        above += times[i] - times[i - 1] > 1ms ? 1 : 0;
    }
    EXPECT_NEAR(above, 36'788, 800);
}

TEST(Load, ABacklogAndItsCost) {
    SimulateOptions options;
    options.backlog = "5K";
    options.ask_every = "1ms";
    options.cost = "1500";
    const Result<AskedLoad> load = make_load(options, "", Per::Byte);
    ASSERT_TRUE(load.has_value());
    EXPECT_EQ(load->backlog->units, 5000U);
    EXPECT_EQ(load->backlog->ask_every, 1ms);
    EXPECT_EQ(load->cost, Units{1500});
    options.cost = "9KiB";
    EXPECT_EQ(make_load(options, "", Per::Byte)->cost, Units{9216});
    EXPECT_FALSE(make_load(options, "", Per::Packet).has_value());
}

TEST(Load, SaysWhatIsWrong) {
    struct Row {
        void (*change)(SimulateOptions&);
        std::string_view says;
    };
    const Row rows[] = {
        {[](SimulateOptions& o) { o.load = "bursty"; }, "did you mean `bursts`"},
        {[](SimulateOptions& o) { o.load = "capture"; }, "--pcap"},
        {[](SimulateOptions& o) { o.backlog = "0"; }, "--backlog must be above zero"},
        {[](SimulateOptions& o) { o.backlog = "60M"; }, "at most 50000000"},
        {[](SimulateOptions& o) { o.cost = "2G"; }, "at most 1000000000"},
        {[](SimulateOptions& o) { o.ask_every = "5"; }, "--ask-every"},
        {[](SimulateOptions& o) { o.ask_every = "801d"; }, "at most 800d"},
        {[](SimulateOptions& o) {
             o.load = "poisson";
             o.seed = "x";
         },
         "--seed"},
        {[](SimulateOptions& o) {
             o.load = "constant";
             o.offer = "5";
         },
         "--offer"},
    };
    for (const Row& row : rows) {
        SimulateOptions options;
        row.change(options);
        const Result<AskedLoad> load = make_load(options, "", Per::Packet);
        ASSERT_FALSE(load.has_value()) << row.says;
        EXPECT_NE(load.error().what.find(row.says), std::string::npos) << load.error().what;
    }
}

}  // namespace
}  // namespace sluice::load_test
