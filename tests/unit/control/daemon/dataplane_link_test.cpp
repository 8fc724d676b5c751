#include "control/daemon/dataplane_link.hpp"

#include "temporary_folder.hpp"
#include "tests/fakes/fake_dataplane.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice::dataplane_link_test {
namespace {

using namespace std::chrono_literals;

class Link : public testing::Test {
protected:
    TemporaryFolder folder_;
    std::atomic<bool> asked_to_try_ = false;
    FakeDataplane dataplane_{folder_ / "dp.sock", [this](const std::string& request) {
                                 asked_to_try_ = asked_to_try_ || request == "try";
                             }};
    DataplaneLink link_{folder_ / "dp.sock", 300ms};
};

TEST_F(Link, WithoutAConnectionEveryCallFailsAtOnce) {
    const Result<Reply> reply = link_.call(GetStats{});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::Unreachable);
    EXPECT_FALSE(link_.check());
}

TEST_F(Link, Calls) {
    ASSERT_TRUE(link_.connect());
    EXPECT_TRUE(link_.check());
    EXPECT_TRUE(link_.status().connected);
    const Result<Reply> reply = link_.call(GetStats{});
    ASSERT_TRUE(reply);
    EXPECT_TRUE(std::holds_alternative<Stats>(*reply));
}

TEST_F(Link, KnowsTheMergeIntervalThatWasSet) {
    ASSERT_TRUE(link_.connect());
    ASSERT_TRUE(link_.call(SetMergeInterval{7'000'000}));
    EXPECT_EQ(link_.rss_mapping().merge_interval, 7ms);
}

// A call that hangs is given up in its time, and who waits behind it in his own.
TEST_F(Link, NobodyWaitsForHisTurnLongerThanForAnAnswer) {
    ASSERT_TRUE(link_.connect());
    dataplane_.hang(true);
    std::thread first{[&] {
        EXPECT_FALSE(link_.call(TryRules{}));  // three times the patience
    }};
    while (!asked_to_try_) {
        std::this_thread::yield();
    }
    const Result<Reply> second = link_.call(GetStats{});
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().what.find("busy"), std::string::npos) << second.error().what;
    EXPECT_TRUE(link_.check()) << "nor does a look wait";
    first.join();
    EXPECT_FALSE(link_.check()) << "the connection is of no more use";
    dataplane_.hang(false);
    EXPECT_TRUE(link_.connect());
    EXPECT_TRUE(link_.call(GetStats{}));
}

}  // namespace
}  // namespace sluice::dataplane_link_test
