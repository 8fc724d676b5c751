#include "control/daemon/dataplane_link.hpp"

#include "temporary_folder.hpp"
#include "tests/fakes/fake_dataplane.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

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
    EXPECT_EQ(second.error().code, Errc::Busy) << second.error().what;
    EXPECT_TRUE(link_.check()) << "nor does a look wait";
    first.join();
    EXPECT_FALSE(link_.check()) << "the connection is of no more use";
    dataplane_.hang(false);
    EXPECT_TRUE(link_.connect());
    EXPECT_TRUE(link_.call(GetStats{}));
}

// A set with one pattern, whose database is three bytes.
RuleSet with_a_pattern() {
    ClassifierParts parts;
    parts.texts.databases = {
        {.field = {}, .entries = {0}, .bytes = {std::byte{1}, std::byte{2}, std::byte{3}}}};
    RuleSet set;
    set.classifier = Classifier{std::move(parts)};
    return set;
}

// The operator mends the file's mode, and the next dataplane's connection finds it.
TEST_F(Link, AKeyThatCouldNotBeReadAtTheStartIsReadByTheNextConnection) {
    const std::string file = folder_ / "database-key";
    link_.share_key(Error{Errc::Refused, "not yet"}, file);
    EXPECT_EQ(link_.seal(with_a_pattern()), DatabaseSeal{});
    ASSERT_TRUE(link_.connect());
    EXPECT_EQ(link_.seal(with_a_pattern()), DatabaseSeal{}) << "there is none yet";
    const Result<DatabaseKey> made = open_database_key(file, "");
    ASSERT_TRUE(made);
    ASSERT_TRUE(link_.connect());
    EXPECT_EQ(link_.seal(with_a_pattern()), seal_of(with_a_pattern(), *made));
}

}  // namespace
}  // namespace sluice::dataplane_link_test
