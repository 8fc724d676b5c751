#include "lib/watch/events/event_log.hpp"
#include "lib/watch/events/key_events.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

// What is told of keys that rules refuse and ban.
namespace sluice::events_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};

std::string rules(const std::string& more = "events: [limit_start, limit_end, refill]",
                  const std::string& limits = "{algorithm: token_bucket, rate: 1/s, burst: 5}") {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n    limits: [" +
           limits + "]\n    " + more + "\n";
}

// A box whose events are told as text: "limit_start r 1 10.0.0.1 at 0 for 1000", in ms.
class Telling {
public:
    explicit Telling(const std::string& text, KeyEvents::Bounds bounds = {})
        : box{text}, events{bounds} {
        box.watch(events);
        log_.adopt(box.set());
    }

    void send(const std::string& source, Nanoseconds passed, int count = 1) {
        for (int i = 0; i < count; ++i) {
            (void)box.judge(udp().src(source).bytes(), kStart + passed);
        }
    }
    void reload(const std::string& text) {
        ASSERT_TRUE(box.reload(text));
        log_.adopt(box.set());
    }
    // All that is due by then.
    std::vector<std::string> told(Nanoseconds passed) {
        box.notify_due(kStart + passed);
        events.ring().drain([&](const EventRecord& record) {
            log_.take(record, 1, [](std::uint64_t) { return std::string{}; });
        });
        std::vector<std::string> lines;
        EventLog::Slice slice = log_.read(next_, 1000);
        next_ = slice.next;
        for (const KeyEvent& event : slice.events) {
            const auto ms = [](std::int64_t ns) { return std::to_string(ns / 1'000'000); };
            lines.push_back(std::string{kKeyEventKindNames[static_cast<std::size_t>(event.kind)]} +
                            " " + event.rule + (event.limit.empty() ? "" : " " + event.limit) +
                            " " + event.key + " at " +
                            ms(event.utc_ns - kStart.time_since_epoch().count()) + " for " +
                            (event.for_ns == kNever.count() ? "ever" : ms(event.for_ns)));
        }
        return lines;
    }

    Box box;
    KeyEvents events;

private:
    EventLog log_;
    std::uint64_t next_ = 1;
};
using Lines = std::vector<std::string>;

TEST(Events, RefusedSilentAndRefilled) {
    Telling box{rules()};
    box.send("10.0.0.1", 0ms, 5);
    EXPECT_EQ(box.told(0ms), Lines{});
    box.send("10.0.0.1", 100ms, 3);
    box.send("10.0.0.2", 100ms);
    EXPECT_EQ(box.told(100ms), Lines{"limit_start r 1 10.0.0.1 at 100 for 900"});
    EXPECT_EQ(box.told(999ms), Lines{});
    EXPECT_EQ(box.told(2s),
              (Lines{"refill r 1 10.0.0.1 at 1000 for 0", "limit_end r 1 10.0.0.1 at 1100 for 0"}));
    EXPECT_TRUE(box.events.empty());
}

TEST(Events, WhoComesAgainTooEarlyIsTheSameEpisode) {
    Telling box{rules("events: [limit_start, limit_end]")};
    box.send("10.0.0.1", 0ms, 6);
    for (auto passed = 500ms; passed < 10s; passed += 500ms) {
        box.send("10.0.0.1", passed, 2);
        const Lines lines = box.told(passed);
        EXPECT_EQ(lines.size(), passed == 500ms ? 1U : 0U);
    }
    EXPECT_EQ(box.told(11s), Lines{"limit_end r 1 10.0.0.1 at 10500 for 9500"});
}

TEST(Events, RulesWithoutEventsAreNotWatched) {
    Telling box{rules("rejected_spend: false")};
    box.send("10.0.0.1", 0ms, 10);
    EXPECT_TRUE(box.events.empty());
    EXPECT_EQ(box.told(1h), Lines{});
}

TEST(Events, EachLimitThatRefusesForItself) {
    Telling box{rules("events: [limit_start]",
                      "{algorithm: token_bucket, rate: 10/s, burst: 2}, "
                      "{algorithm: fixed_window, count: 3, window: 1h, phase: first}")};
    box.send("10.0.0.1", 0ms, 3);
    EXPECT_EQ(box.told(0ms), Lines{"limit_start r 1 10.0.0.1 at 0 for 100"});
    box.send("10.0.0.1", 100ms, 1);
    box.send("10.0.0.1", 300ms, 1);
    const Lines lines = box.told(300ms);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines[0].starts_with("limit_start r 2 10.0.0.1 at 300 for ")) << lines[0];
}

TEST(Events, WhatAnOperatorGivesIsToldAtOnce) {
    Telling box{rules("events: [refill]", "{algorithm: token_bucket, rate: 1/h, burst: 5}")};
    box.send("10.0.0.1", 0ms, 6);
    const KeyQuestion grant{.action = KeyAction::Grant,
                            .load = box.box.set().load,
                            .bytes = box.box.read_key("10.0.0.1")->bytes,
                            .units = Units{2}};
    (void)box.box.ask(grant, kStart + 10s);
    EXPECT_EQ(box.told(10s), Lines{"refill r 1 10.0.0.1 at 10000 for 0"});
}

// A smaller packet has spent meanwhile what the larger one waits for.
TEST(Events, ARefillIsWhatTheBucketSaysThen) {
    Telling box{rules("events: [refill]",
                      "{algorithm: token_bucket, per: byte, rate: 1000B/s, burst: 1000B}")};
    const auto send = [&](std::uint16_t payload, Nanoseconds passed) {
        return box.box.judge(udp().src("10.0.0.1").payload(payload).bytes(), kStart + passed)
            .verdict;
    };
    EXPECT_EQ(send(900, 0ms), Verdict::Pass);
    EXPECT_EQ(send(900, 0ms), Verdict::Drop);
    EXPECT_EQ(send(100, 500ms), Verdict::Pass);
    EXPECT_EQ(box.told(950ms), Lines{});
    const Lines lines = box.told(2s);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_TRUE(lines[0].starts_with("refill r 1 10.0.0.1 at ")) << lines[0];
}

TEST(Events, BansOfKeys) {
    Telling box{rules("ban: {after: 3, within: 10s, for: 1m}\n    events: [limit_start, ban]")};
    box.send("10.0.0.1", 0ms, 8);
    EXPECT_EQ(box.told(0ms), (Lines{"limit_start r 1 10.0.0.1 at 0 for 1000",
                                    "ban_start r 10.0.0.1 at 0 for 60000"}));
    // What the ban refuses, no limit does.
    box.send("10.0.0.1", 30s, 50);
    EXPECT_EQ(box.told(59s), Lines{});
    EXPECT_EQ(box.told(61s), Lines{"ban_end r 10.0.0.1 at 60000 for 60000"});
    EXPECT_TRUE(box.events.empty());
    // Lifted by an operator.
    box.send("10.0.0.1", 100s, 8);
    EXPECT_EQ(box.told(100s).size(), 2U);
    const KeyQuestion unban{.action = KeyAction::Unban,
                            .load = box.box.set().load,
                            .bytes = box.box.read_key("10.0.0.1")->bytes};
    (void)box.box.ask(unban, kStart + 110s);
    EXPECT_EQ(box.told(110s), Lines{"ban_end r 10.0.0.1 at 110000 for 10000"});
}

TEST(Events, AnotherFileGoesOnWithItsKeys) {
    const std::string other = "  - {id: s, on_match: drop, when: 'l4.dport eq 7'}\n";
    Telling box{rules()};
    box.send("10.0.0.1", 0ms, 6);
    EXPECT_EQ(box.told(0ms).size(), 1U);
    std::string text = rules();
    text.insert(text.find("  - id: r"), other);
    box.reload(text);
    box.send("10.0.0.1", 500ms);
    EXPECT_EQ(box.told(2s), (Lines{"refill r 1 10.0.0.1 at 1000 for 0",
                                   "limit_end r 1 10.0.0.1 at 1500 for 500"}));
    // What is no longer reported is forgotten.
    box.send("10.0.0.1", 3s, 20);
    EXPECT_EQ(box.told(3s).size(), 1U);
    box.reload(rules("events: [ban]"));
    EXPECT_EQ(box.told(1h), Lines{});
    EXPECT_TRUE(box.events.empty());
}

TEST(Events, AMillionKeysFillTheTableAndNoMore) {
    Telling box{rules("events: [limit_start]", "{algorithm: token_bucket, rate: 1/h, burst: 1}"),
                {.keys = 64, .ring = 128}};
    for (int i = 0; i < 1000; ++i) {
        box.send("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250), 0ms, 2);
    }
    EXPECT_LE(box.events.size(), 64U);
    EXPECT_EQ(box.told(0ms).size() + box.events.lost(), 1000U);
}

// Random traffic of one unit each, against what each key's own bucket says, asked every time.
TEST(Events, AgainstABucketForEachKey) {
    std::mt19937_64 random{11};
    Telling box{rules("events: [limit_start, limit_end]",
                      "{algorithm: token_bucket, rate: 4/s, burst: 3}")};
    struct Key {
        bool limited = false;
        std::int64_t last = 0;  // ms
        std::int64_t first = 0;
    };
    std::map<std::string, Key> keys;
    Lines want;
    const auto end_silent = [&](std::int64_t now) {
        std::multimap<std::int64_t, std::string> ends;
        for (auto& [name, key] : keys) {
            if (key.limited && key.last + 1000 <= now) {
                key.limited = false;
                ends.emplace(key.last + 1000, "limit_end r 1 " + name + " at " +
                                                  std::to_string(key.last + 1000) + " for " +
                                                  std::to_string(key.last - key.first));
            }
        }
        for (auto& [at, line] : ends) {
            want.push_back(line);
        }
    };
    Lines got;
    std::int64_t now = 0;
    for (int step = 0; step < 5000; ++step) {
        now += static_cast<std::int64_t>(1 + random() % 40);
        end_silent(now);
        const auto more = box.told(std::chrono::milliseconds{now});
        got.insert(got.end(), more.begin(), more.end());
        const std::string name = "10.0.0." + std::to_string(1 + random() % 12);
        const Decision decision =
            box.box.judge(udp().src(name).bytes(), kStart + std::chrono::milliseconds{now});
        Key& key = keys[name];
        if (decision.verdict != Verdict::Pass) {
            if (!key.limited) {
                key.limited = true;
                key.first = now;
                want.push_back("limit_start r 1 " + name + " at " + std::to_string(now) + " for " +
                               std::to_string(decision.wait.count() / 1'000'000));
            }
            key.last = now;
        }
    }
    const auto more = box.told(std::chrono::milliseconds{now});
    got.insert(got.end(), more.begin(), more.end());
    EXPECT_GT(want.size(), 100U);
    std::sort(got.begin(), got.end());  // of ends at one instant any may come first
    std::sort(want.begin(), want.end());
    EXPECT_EQ(got, want);
}

}  // namespace
}  // namespace sluice::events_test
