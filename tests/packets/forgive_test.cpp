#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

// Debts of keys when numbers are lowered: an operator forgives them, and nothing else does.
namespace sluice::forgive_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;
using test::Workers;

constexpr Instant kStart{1h};

std::string rules_with(const std::string& limit, const std::string& more = "",
                       const std::string& key = "ip.src") {
    return "version: 1\nrules:\n  - id: each\n    mode: enforce\n    key: [" + key + "]\n" + more +
           "    limits: [" + limit + "]\n";
}

int passed(Box& box, int packets, Instant now) {
    const auto frame = udp().src("10.0.0.1").bytes();
    int count = 0;
    for (int i = 0; i < packets; ++i) {
        count += box.judge(frame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return count;
}

std::uint64_t forgiven(Box& box) {
    return box.buckets().registry.forgiven().read();
}

// The number is missing: a burst, a queue or a count.
const std::string kKinds[] = {
    "{algorithm: token_bucket, rate: 1/d, burst: ",
    "{algorithm: token_bucket, rate: 7/d, burst: ",
    "{algorithm: leaky_bucket, rate: 1/d, queue: ",
    "{algorithm: fixed_window, window: 1d, phase: first, count: ",
    "{algorithm: fixed_window, window: 1d, phase: clock, count: ",
    "{algorithm: sliding_window, window: 1d, count: ",
    "{algorithm: sliding_counters, window: 1d, count: ",
    "{algorithm: sliding_log, window: 1d, count: ",
};

// 100 used, lowered to 5: 5 are owed from then on, so that of 20 there are 15 left; whether or not
// a packet of the key came in between.
TEST(Forgive, AKeyOwesNoMoreThanTheNewBurst) {
    for (const std::string& kind : kKinds) {
        for (const bool is_seen : {false, true}) {
            Box box{rules_with(kind + "100}")};
            ASSERT_EQ(passed(box, 100, kStart), 100) << kind;
            ASSERT_TRUE(box.forgive(rules_with(kind + "5}"))) << kind;
            box.idle(kStart);
            if (is_seen) {
                EXPECT_EQ(passed(box, 3, kStart), 0) << kind;
            }
            ASSERT_TRUE(box.reload(rules_with(kind + "20}"))) << kind;
            EXPECT_EQ(passed(box, 100, kStart), 15) << kind << " seen: " << is_seen;
            EXPECT_EQ(forgiven(box), 1U) << kind;
        }
    }
}

TEST(Forgive, BothBucketsOfAColourMeter) {
    const std::string pass_on =
        "    on_color: {green: {action: pass}, yellow: {action: drop}, red: {action: drop}}\n";
    for (const std::string kind : {"{algorithm: srtcm, cir: 1/d, ebs: 200, cbs: ",
                                   "{algorithm: trtcm, variant: rfc4115, cir: 1/d, eir: 1/d, "
                                   "ebs: 200, cbs: "}) {
        Box box{rules_with(kind + "100}", pass_on)};
        ASSERT_EQ(passed(box, 100, kStart), 100) << kind;
        ASSERT_TRUE(box.forgive(rules_with(kind + "5}", pass_on))) << kind;
        box.idle(kStart);
        EXPECT_EQ(passed(box, 3, kStart), 0) << kind;
        ASSERT_TRUE(box.reload(rules_with(kind + "20}", pass_on))) << kind;
        EXPECT_EQ(passed(box, 100, kStart), 15) << kind;
        EXPECT_EQ(forgiven(box), 1U) << kind;
    }
}

// 1000/s with burst 5000, lowered to 10/s with burst 10: minutes without, a tenth of a second with.
TEST(Forgive, AnActiveKeyGoesOnAtTheNewRateAtOnce) {
    const std::string high = rules_with("{algorithm: token_bucket, rate: 1000/s, burst: 5000}");
    const std::string low = rules_with("{algorithm: token_bucket, rate: 10/s, burst: 10}");
    Box carried{high};
    Box box{high};
    ASSERT_EQ(passed(carried, 5000, kStart), 5000);
    ASSERT_EQ(passed(box, 5000, kStart), 5000);
    ASSERT_TRUE(carried.reload(low));
    ASSERT_TRUE(box.forgive(low));
    carried.idle(kStart);
    box.idle(kStart);
    EXPECT_EQ(passed(carried, 1, kStart + 499s), 0);
    EXPECT_EQ(passed(carried, 1, kStart + 499s + 100ms), 1);
    EXPECT_EQ(passed(box, 1, kStart + 99ms), 0);
    EXPECT_EQ(passed(box, 1, kStart + 100ms), 1);
    EXPECT_EQ(passed(box, 100, kStart + 1s), 9);
}

TEST(Forgive, WhoOwesLessIsGivenNothing) {
    for (const std::string& kind : kKinds) {
        Box box{rules_with(kind + "100}")};
        ASSERT_EQ(passed(box, 3, kStart), 3) << kind;
        ASSERT_TRUE(box.forgive(rules_with(kind + "5}"))) << kind;
        box.idle(kStart);
        EXPECT_EQ(passed(box, 100, kStart), 2) << kind;
        EXPECT_EQ(forgiven(box), 0U) << kind;
    }
}

// Once for each change: what a key has used since is not given back by the same numbers again.
TEST(Forgive, TheSameNumbersForgiveOnce) {
    const auto limit = [](const std::string& burst) {
        return rules_with("{algorithm: token_bucket, rate: 1/s, burst: " + burst + "}");
    };
    Box box{limit("100")};
    ASSERT_EQ(passed(box, 100, kStart), 100);
    // Lowered without, and only then forgiven.
    ASSERT_TRUE(box.reload(limit("5")));
    EXPECT_EQ(passed(box, 1, kStart), 0);
    ASSERT_TRUE(box.forgive(limit("5")));
    EXPECT_EQ(passed(box, 100, kStart + 2s), 0);  // as of when it came into force
    EXPECT_EQ(passed(box, 100, kStart + 3s), 1);
    EXPECT_EQ(forgiven(box), 1U);
    const std::uint64_t changes = box.set().changes;
    int admitted = 0;
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(box.forgive(limit("5")));
        admitted += passed(box, 10, kStart + 3s);
    }
    EXPECT_EQ(admitted, 0);
    EXPECT_EQ(box.set().changes, changes);
    EXPECT_EQ(forgiven(box), 1U);
}

// A box that never lowered its numbers has nothing to forgive, and takes no change for it.
TEST(Forgive, NumbersThatWereNeverHigherAreNoChange) {
    Box box{rules_with("{algorithm: token_bucket, rate: 1/s, burst: 5}")};
    EXPECT_EQ(passed(box, 100, kStart), 5);
    ASSERT_TRUE(box.forgive(rules_with("{algorithm: token_bucket, rate: 1/s, burst: 5}")));
    EXPECT_EQ(passed(box, 100, kStart), 0);
    EXPECT_EQ(box.set().changes, 0U);
}

// An operator who raises and lowers gets the new burst at most, each time, and each is counted.
TEST(Forgive, EachChangeForgivesAtMostDownToItsBurst) {
    const auto limit = [](const std::string& burst) {
        return rules_with("{algorithm: token_bucket, rate: 1/d, burst: " + burst + "}");
    };
    Box box{limit("100")};
    ASSERT_EQ(passed(box, 200, kStart), 100);
    for (int i = 1; i <= 10; ++i) {
        const Instant now = kStart + i * 1min;
        ASSERT_TRUE(box.forgive(limit("5")));
        EXPECT_EQ(passed(box, 200, now), 0);
        EXPECT_EQ(forgiven(box), static_cast<std::uint64_t>(i));
        ASSERT_TRUE(box.forgive(limit("100")));
        EXPECT_EQ(passed(box, 200, now), 95);
        for (int turn = 0; turn < 5000 && i % 2 == 0; ++turn) {
            box.idle(now);  // the sweep makes room for more changes
        }
    }
}

std::string toggling(const std::string& more) {
    return "version: 1\nrules:\n  - id: each\n    mode: enforce\n    key: [ip.src]\n"
           "    limits: [{algorithm: token_bucket, rate: 1000/s, burst: 500}]\n" +
           more;
}

KeySettings lowered() {
    KeySetting set{.rule = "each", .key = "10.0.0.1"};
    set.limit = "1";
    set.rate = "10/s";
    set.is_new = true;  // what is wrong with it is an error
    return {set};
}

// `dynamic` lowers a key and lets it go again a hundred times: one burst and the rate, no more.
TEST(Forgive, AHundredTogglesOfAKeyMintNothing) {
    const std::string text =
        toggling("    dynamic: {source: api, ttl: 1h, floor: 1/s, ceiling: 10K/s}\n");
    for (const bool is_seen_low : {false, true}) {
        Box box{text};
        int admitted = 0;
        Instant now = kStart;
        for (int i = 0; i < 100; ++i, now += 5ms) {
            admitted += passed(box, 600, now);
            ASSERT_TRUE(box.reload(text, lowered()));
            ASSERT_TRUE(box.set().rules[0].limits[0].overridden);
            box.idle(now);
            admitted += is_seen_low ? passed(box, 20, now) : 0;
            ASSERT_TRUE(box.reload(text, KeySettings{}));
            for (int turn = 0; turn < 2000; ++turn) {
                box.idle(now);  // the sweep makes room for more changes
            }
        }
        EXPECT_LE(admitted, 500 + 500);  // half a second in all
        EXPECT_GE(admitted, 500);
        EXPECT_EQ(forgiven(box), 0U);
    }
}

TEST(Forgive, AHundredTogglesByReloadMintNothing) {
    const std::string low = rules_with("{algorithm: token_bucket, rate: 10/s, burst: 10}");
    const std::string high = rules_with("{algorithm: token_bucket, rate: 1000/s, burst: 500}");
    Box box{high};
    int admitted = 0;
    Instant now = kStart;
    for (int i = 0; i < 100; ++i, now += 5ms) {
        admitted += passed(box, 600, now);
        for (const std::string& text : {low, high}) {
            ASSERT_TRUE(box.reload(text));
            admitted += passed(box, 20, now);
        }
        for (int turn = 0; turn < 2000; ++turn) {
            box.idle(now);  // the sweep makes room for more changes
        }
    }
    EXPECT_LE(admitted, 500 + 500);
    EXPECT_GE(admitted, 500);
    EXPECT_EQ(forgiven(box), 0U);
}

// A change that came before a key was seen again, and then others that forgive nothing.
TEST(Forgive, LaterChangesAreReadFromWhatIsOwedThen) {
    const auto limit = [](const std::string& burst) {
        return rules_with("{algorithm: token_bucket, rate: 1/d, burst: " + burst + "}");
    };
    Box box{limit("100")};
    ASSERT_EQ(passed(box, 100, kStart), 100);
    for (const auto& [burst, forgives] :
         {std::pair{"50", Forgives::Nothing}, {"8", Forgives::Excess}, {"3", Forgives::Nothing}}) {
        ASSERT_TRUE(box.reload(limit(burst), nullptr, nullptr, forgives));
        (void)box.judge(test::arp().bytes(), kStart);
    }
    EXPECT_EQ(passed(box, 10, kStart), 0);
    ASSERT_TRUE(box.reload(limit("20")));
    EXPECT_EQ(passed(box, 100, kStart), 12);
}

std::string own(const std::string& numbers) {
    return "    overrides: {inline: [{key: 10.0.0.1, limits: {'1': {" + numbers + "}}}]}\n";
}

TEST(Forgive, AKeyWithNumbersOfItsOwnToo) {
    const std::string limit = "{algorithm: token_bucket, rate: 1/d, burst: 10}";
    Box box{rules_with(limit, own("burst: 100"))};
    ASSERT_EQ(passed(box, 200, kStart), 100);
    ASSERT_TRUE(box.forgive(rules_with(limit, own("burst: 30"))));
    EXPECT_EQ(passed(box, 200, kStart), 0);
    ASSERT_TRUE(box.reload(rules_with(limit, own("burst: 40"))));
    EXPECT_EQ(passed(box, 200, kStart), 10);
    EXPECT_EQ(forgiven(box), 1U);
    // And what it owes when it has none any more.
    ASSERT_TRUE(box.forgive(rules_with(limit)));
    EXPECT_EQ(passed(box, 200, kStart), 0);
    ASSERT_TRUE(box.reload(rules_with("{algorithm: token_bucket, rate: 1/d, burst: 12}")));
    EXPECT_EQ(passed(box, 200, kStart), 2);
}

// Settings that end by themselves forgive nothing: an end that was set is no operator's act.
TEST(Forgive, TheEndOfAKeysNumbersForgivesNothing) {
    const auto until = [](const std::string& burst) {
        return rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}",
                          "    overrides: {inline: [{key: 10.0.0.1, until: '1970-01-01T02:00:00Z', "
                          "limits: {'1': {burst: " +
                              burst + "}}}]}\n");
    };
    Box box{until("100")};
    ASSERT_EQ(passed(box, 200, kStart), 100);
    ASSERT_TRUE(box.forgive(until("100")));
    box.idle(kStart);
    EXPECT_EQ(passed(box, 200, kStart + 2h), 0);
    ASSERT_TRUE(box.reload(rules_with("{algorithm: token_bucket, rate: 1/d, burst: 50}")));
    EXPECT_EQ(passed(box, 200, kStart + 2h), 0);
    EXPECT_EQ(forgiven(box), 0U);
}

// Numbers of a key's own, until so many seconds after kStart.
std::string own_until(const std::string& kind, const std::string& number, int seconds) {
    std::ostringstream end;
    end << "1970-01-01T01:" << std::setfill('0') << std::setw(2) << seconds / 60 << ":"
        << std::setw(2) << seconds % 60 << "Z";
    const std::string name = kind.substr(kind.rfind(", ") + 2);
    return "    overrides: {inline: [{key: 10.0.0.1, until: '" + end.str() + "', limits: {'1': {" +
           name + number + "}}}]}\n";
}

// Lower or higher than the limit's own: in a hundred such ends a key has what the higher allows.
TEST(Forgive, AHundredEndsOfAKeysNumbersMintNothing) {
    for (const std::string& kind : kKinds) {
        for (const auto& [number, own_number] : {std::pair{"100", "5"}, {"5", "100"}}) {
            for (const bool is_seen : {false, true}) {
                SCOPED_TRACE(kind + number + (is_seen ? " seen" : " not seen"));
                Box box{rules_with(kind + number + "}")};
                int admitted = 0;
                for (int i = 0; i < 100; ++i) {
                    const Instant now = kStart + 2s * i;
                    ASSERT_TRUE(box.reload(
                        rules_with(kind + number + "}", own_until(kind, own_number, 2 * i + 1))));
                    ASSERT_TRUE(box.set().rules[0].limits[0].overridden);
                    box.idle(now);
                    admitted += is_seen || i == 0 ? passed(box, 120, now) : 0;
                    admitted += passed(box, 120, now + 1s);
                    for (int turn = 0; turn < 300; ++turn) {
                        box.idle(now + 1s);  // the sweep makes room for more changes
                    }
                }
                EXPECT_EQ(admitted, 100);
                EXPECT_EQ(forgiven(box), 0U);
            }
        }
    }
}

const std::string kWindows[] = {
    "{algorithm: fixed_window, window: 1d, phase: first, count: ",
    "{algorithm: fixed_window, window: 1d, phase: clock, count: ",
    "{algorithm: sliding_window, window: 1d, count: ",
    "{algorithm: sliding_counters, window: 1d, count: ",
    "{algorithm: sliding_log, window: 1d, count: ",
};

// An entry has no key: what counts is the key's own count all the same, whether or not a packet of
// the key came before its entry was brought under the new numbers.
TEST(Forgive, WindowsOfKeysWithCountsOfTheirOwn) {
    for (const std::string& kind : kWindows) {
        for (const bool is_seen : {false, true}) {
            SCOPED_TRACE(kind + (is_seen ? "seen" : "not seen"));
            Box box{rules_with(kind + "100}", own("count: 80"))};
            ASSERT_EQ(passed(box, 200, kStart), 80);
            // No more than its own count allows is owed.
            ASSERT_TRUE(box.forgive(rules_with(kind + "5}", own("count: 80"))));
            box.idle(kStart);
            EXPECT_EQ(passed(box, 200, kStart), 0);
            EXPECT_EQ(forgiven(box), 0U);
            // Its own count alone is lowered, and once more by the same rules.
            for (int again = 0; again < 2; ++again) {
                ASSERT_TRUE(box.forgive(rules_with(kind + "5}", own("count: 30"))));
                for (int burst = 0; !is_seen && burst < 200; ++burst) {
                    box.idle(kStart);
                }
                EXPECT_EQ(passed(box, 200, kStart), 0);
                EXPECT_EQ(forgiven(box), 1U);
            }
            ASSERT_TRUE(box.reload(rules_with(kind + "5}", own("count: 40"))));
            EXPECT_EQ(passed(box, 200, kStart), 10);
        }
    }
}

// Other keys of such a limit are forgiven by its count.
TEST(Forgive, WindowsOfOtherKeysBesideThem) {
    const auto other = [](Box& box, int packets) {
        const auto frame = udp().src("10.0.0.2").bytes();
        int count = 0;
        for (int i = 0; i < packets; ++i) {
            count += box.judge(frame, kStart).verdict == Verdict::Pass ? 1 : 0;
        }
        return count;
    };
    for (const std::string& kind : kWindows) {
        SCOPED_TRACE(kind);
        Box box{rules_with(kind + "100}", own("count: 80"))};
        ASSERT_EQ(other(box, 200), 100);
        ASSERT_EQ(passed(box, 200, kStart), 80);
        ASSERT_TRUE(box.forgive(rules_with(kind + "5}", own("count: 80"))));
        EXPECT_EQ(other(box, 200), 0);
        EXPECT_EQ(forgiven(box), 1U);
        ASSERT_TRUE(box.reload(rules_with(kind + "20}", own("count: 90"))));
        EXPECT_EQ(other(box, 200), 15);
        EXPECT_EQ(passed(box, 200, kStart), 10);
    }
}

KeyAnswer ask(Box& box, KeyAction action, Instant now) {
    const Result<ReadKey> read = box.read_key("10.0.0.1");
    return box.ask({.action = action,
                    .load = box.set().load,
                    .rule = 0,
                    .key = read->index,
                    .bytes = read->bytes,
                    .units = {}},
                   now);
}

TEST(Forgive, OneKeyAlone) {
    for (const std::string& kind : kKinds) {
        Box box{rules_with(kind + "100}")};
        ASSERT_EQ(passed(box, 100, kStart), 100) << kind;
        (void)box.judge(udp().src("10.0.0.2").bytes(), kStart);
        ASSERT_TRUE(box.reload(rules_with(kind + "5}"))) << kind;
        const KeyAnswer answer = ask(box, KeyAction::Forgive, kStart);
        ASSERT_EQ(answer.count, 1) << kind;
        EXPECT_TRUE(answer.buckets[0].own) << kind;
        EXPECT_EQ(answer.buckets[0].remaining, Units{0}) << kind;
        EXPECT_EQ(forgiven(box), 1U) << kind;
        (void)ask(box, KeyAction::Forgive, kStart);
        EXPECT_EQ(forgiven(box), 1U) << kind;
        ASSERT_TRUE(box.reload(rules_with(kind + "20}"))) << kind;
        EXPECT_EQ(passed(box, 100, kStart), 15) << kind;
    }
}

TEST(Forgive, OneKeyWithNumbersOfItsOwn) {
    const std::string limit = "{algorithm: token_bucket, rate: 1/d, burst: 10}";
    Box box{rules_with(limit, own("burst: 100"))};
    ASSERT_EQ(passed(box, 200, kStart), 100);
    ASSERT_TRUE(box.reload(rules_with(limit, own("burst: 30"))));
    (void)ask(box, KeyAction::Forgive, kStart);
    ASSERT_TRUE(box.reload(rules_with(limit, own("burst: 40"))));
    EXPECT_EQ(passed(box, 200, kStart), 10);
    EXPECT_EQ(forgiven(box), 1U);
}

std::uint64_t pass_merged(Workers& workers, int rounds, Instant now) {
    const auto frame = udp().src("10.0.0.1").dst("192.0.2.1").dport(53).bytes();
    std::uint64_t count = 0;
    for (int i = 0; i < rounds; ++i) {
        count += workers.pass(4, frame, now);
        workers.turns(now);
    }
    return count;
}

// The owner's bucket and every worker's copy: none of them brings the old debt back.
TEST(Forgive, OfALimitThatWorkersShare) {
    for (const std::string kind : {"{algorithm: token_bucket, rate: 1/h, burst: ",
                                   "{algorithm: fixed_window, window: 1d, phase: clock, count: ",
                                   "{algorithm: sliding_window, window: 1d, count: ",
                                   "{algorithm: sliding_counters, window: 1d, count: "}) {
        const auto rules = [&](const std::string& number) {
            return rules_with(kind + number + "}", "", "ip.dst");
        };
        Workers workers{rules("1000"), 4};
        const std::uint64_t ahead = 3 * workers.limit().shared;
        ASSERT_NE(ahead, 0U) << kind;
        ASSERT_GE(pass_merged(workers, 400, kStart), 1000U) << kind;
        ASSERT_TRUE(workers.begin_apply(rules("100"), {}, Forgives::Excess)) << kind;
        workers.end_apply(kStart);
        EXPECT_LE(pass_merged(workers, 100, kStart + 5s), ahead) << kind;
        workers.apply(rules("1000"), kStart + 5s);
        const std::uint64_t restored = pass_merged(workers, 400, kStart + 5s);
        EXPECT_GE(restored, 900U - 2 * ahead) << kind;
        EXPECT_LE(restored, 900U + 2 * ahead) << kind;
    }
}

// One worker after the other takes the change up while the others still tell the old totals.
TEST(Forgive, WhileWorkersTakeItUpOneByOne) {
    for (const std::string kind : {"{algorithm: token_bucket, rate: 1/h, burst: ",
                                   "{algorithm: fixed_window, window: 1d, phase: clock, count: ",
                                   "{algorithm: sliding_window, window: 1d, count: ",
                                   "{algorithm: sliding_counters, window: 1d, count: "}) {
        const auto frame = udp().src("10.0.0.1").dst("192.0.2.1").dport(53).bytes();
        for (std::size_t first = 0; first < 4; ++first) {
            const auto rules = [&](const std::string& number) {
                return rules_with(kind + number + "}", "", "ip.dst");
            };
            Workers workers{rules("1000"), 4};
            const std::uint64_t ahead = 3 * workers.limit().shared;
            ASSERT_GE(pass_merged(workers, 400, kStart), 1000U) << kind;
            ASSERT_TRUE(workers.begin_apply(rules("100"), {}, Forgives::Excess)) << kind;
            for (std::size_t i = 0; i < 4; ++i) {
                const std::size_t at = (first + i) % 4;
                for (int packet = 0; packet < 3; ++packet) {
                    (void)workers.judge(at, frame, kStart + 1s);
                    workers.poll(at, kStart + 1s);
                }
            }
            workers.end_apply(kStart + 5s);
            (void)pass_merged(workers, 20, kStart + 5s);
            workers.apply(rules("1000"), kStart + 5s);
            EXPECT_GE(pass_merged(workers, 400, kStart + 5s), 900U - 3 * ahead)
                << kind << " first: " << first;
        }
    }
}

}  // namespace
}  // namespace sluice::forgive_test
