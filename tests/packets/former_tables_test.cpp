#include "lib/bucket/table/previous_tables.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

// What keys owe in tables of another size, when numbers become others before or after the restart:
// as much as in a table that nobody has replaced.
namespace sluice::former_tables_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};

std::string rules_with(const std::string& limit, const std::string& more = "") {
    return "version: 1\nrules:\n  - id: each\n    mode: enforce\n    key: [ip.src]\n" + more +
           "    limits: [{algorithm: " + limit + "}]\n";
}

constexpr const char* kGreenAlone =
    "    on_color: {green: {action: pass}, yellow: {action: drop}, red: {action: drop}}\n";
constexpr const char* kAllButRed =
    "    on_color: {green: {action: pass}, yellow: {action: pass}, red: {action: drop}}\n";

int passed(Box& box, int packets, Instant now) {
    const auto frame = udp().src("10.0.0.1").bytes();
    int count = 0;
    for (int i = 0; i < packets; ++i) {
        count += box.judge(frame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return count;
}

// A box whose tables may be replaced by others of another size, with the rules that it has had:
// slots and versions mean the same in both.
class RestartedBox {
public:
    explicit RestartedBox(bool restarts, const std::string& rules) : restarts_{restarts} {
        box_.emplace(rules);
        had_.push_back({rules, {}});
    }
    Box& box() { return *box_; }

    void reload(const std::string& rules, Instant now, const KeySettings& keys = {}) {
        ASSERT_TRUE(box_->reload(rules, keys));
        had_.push_back({rules, keys});
        box_->idle(now);
    }
    void restart(Instant now) {
        if (!restarts_) {
            return;
        }
        std::vector<PreviousTables::Store> stores;
        stores.push_back({std::move(box_->buckets()), 0});
        previous_.emplace(std::move(stores), now + 1h);
        Box& next = box_.emplace(had_.front().rules, BucketStore{1'000, 1'000});
        next.buckets().set_previous_tables(&*previous_, 0);
        for (std::size_t i = 1; i < had_.size(); ++i) {
            ASSERT_TRUE(next.reload(had_[i].rules, had_[i].keys));
        }
        next.idle(now);
    }

private:
    struct Had {
        std::string rules;
        KeySettings keys;
    };
    bool restarts_;
    std::vector<Had> had_;
    std::optional<Box> box_;
    std::optional<PreviousTables> previous_;
};

struct Numbers {
    const char* before;
    const char* after;
    const char* more = "";
    int left = 0;  // of a burst of 100, 190 s after the change
};

// After 10 s 90 of 100 are owed; from then on a unit a minute comes back. In 190 s more those are
// three, and the buckets would have been full under the numbers of before.
const Numbers kLowered[] = {
    {"token_bucket, rate: 1/s, burst: 100", "token_bucket, rate: 1/m, burst: 100", "", 13},
    {"token_bucket, rate: 60/m, burst: 100", "token_bucket, rate: 60/h, burst: 100", "", 13},
    {"leaky_bucket, rate: 1/s, queue: 100", "leaky_bucket, rate: 1/m, queue: 100", "", 13},
    {"token_bucket, rate: 1/s, burst: 100", "token_bucket, rate: 1/m, burst: 50", "", 0},
    {"srtcm, cir: 1/s, cbs: 100, ebs: 100", "srtcm, cir: 1/m, cbs: 100, ebs: 100", kGreenAlone, 13},
    {"srtcm, cir: 1/s, cbs: 100, ebs: 100", "srtcm, cir: 1/m, cbs: 50, ebs: 100", kGreenAlone, 0},
    {"trtcm, variant: rfc4115, cir: 1/s, cbs: 100, eir: 1/s, ebs: 100",
     "trtcm, variant: rfc4115, cir: 1/m, cbs: 100, eir: 1/m, ebs: 100", kGreenAlone, 13},
    {"trtcm, variant: rfc2698, cir: 1/s, cbs: 100, pir: 1/s, pbs: 100",
     "trtcm, variant: rfc2698, cir: 1/m, cbs: 100, pir: 1/m, pbs: 100", kGreenAlone, 13},
};

TEST(FormerTables, ADebtUnderLoweredNumbersIsNotForgotten) {
    for (const Numbers& numbers : kLowered) {
        for (const bool restarts : {false, true}) {
            SCOPED_TRACE(std::string{numbers.after} + (restarts ? ", restarted" : ""));
            RestartedBox some{restarts, rules_with(numbers.before, numbers.more)};
            EXPECT_EQ(passed(some.box(), 100, kStart), 100);
            some.restart(kStart + 5s);
            some.reload(rules_with(numbers.after, numbers.more), kStart + 10s);
            EXPECT_EQ(passed(some.box(), 100, kStart + 200s), numbers.left);
        }
    }
}

// The table has not followed the change yet as its process ends.
TEST(FormerTables, AChangeBeforeTheRestartWasWhenItWas) {
    for (const Numbers& numbers : kLowered) {
        for (const bool restarts : {false, true}) {
            SCOPED_TRACE(std::string{numbers.after} + (restarts ? ", restarted" : ""));
            RestartedBox some{restarts, rules_with(numbers.before, numbers.more)};
            EXPECT_EQ(passed(some.box(), 100, kStart), 100);
            some.reload(rules_with(numbers.after, numbers.more), kStart + 10s);
            some.restart(kStart + 150s);
            EXPECT_EQ(passed(some.box(), 100, kStart + 200s), numbers.left);
        }
    }
}

// Beyond the lowered burst a key owes on, and what is restored leaves it as it was.
TEST(FormerTables, ColoursOweBeyondTheirBurst) {
    for (const bool restarts : {false, true}) {
        SCOPED_TRACE(restarts);
        const auto rules = [](const std::string& committed) {
            return rules_with("srtcm, cir: 1/d, ebs: 100, cbs: " + committed, kAllButRed);
        };
        RestartedBox some{restarts, rules("100")};
        EXPECT_EQ(passed(some.box(), 150, kStart), 150);
        some.restart(kStart);
        some.reload(rules("5"), kStart);
        EXPECT_EQ(passed(some.box(), 5, kStart), 5);
        some.reload(rules("100"), kStart);
        EXPECT_EQ(passed(some.box(), 100, kStart), 45);
    }
}

KeySetting set_for(const std::string& rate, std::int64_t until = 0) {
    return {.rule = "each", .key = "10.0.0.1", .limit = "1", .rate = rate, .until = until};
}

// UTC is the instant here.
TEST(FormerTables, AKeysOwnNumbersAreFollowed) {
    constexpr std::int64_t kEnds = 3600 + 10;
    const std::string base = rules_with("token_bucket, rate: 1/m, burst: 100");
    for (const bool restarts : {false, true}) {
        SCOPED_TRACE(restarts);
        RestartedBox ends{restarts, base};
        ends.reload(base, kStart, {set_for("1/s", kEnds)});
        EXPECT_EQ(passed(ends.box(), 100, kStart), 100);
        ends.restart(kStart + 5s);
        EXPECT_EQ(passed(ends.box(), 100, kStart + 200s), 13) << "its numbers have ended";

        RestartedBox lowered{restarts, base};
        lowered.reload(base, kStart, {set_for("1/s")});
        EXPECT_EQ(passed(lowered.box(), 100, kStart), 100);
        lowered.restart(kStart + 5s);
        lowered.reload(base, kStart + 10s, {set_for("2/m")});
        EXPECT_EQ(passed(lowered.box(), 100, kStart + 70s), 12);
    }
}

}  // namespace
}  // namespace sluice::former_tables_test
