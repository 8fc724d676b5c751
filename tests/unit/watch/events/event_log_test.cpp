#include "lib/watch/events/event_log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::event_log_test {
namespace {

LoadedSet set_of(std::uint64_t load, const std::string& rule) {
    LoadedSet set;
    set.load = load;
    LoadedRule& one = set.rules.emplace_back();
    one.id = rule;
    one.events = EdgeEventSet{EdgeEventSet::kAll};
    one.limits.push_back({MeteredLimit{
        .name = "1",
        .limit = TokenBucketLimit{*Limit::make({Units{1}, Nanoseconds{1}}, Units{1})}}});
    return set;
}
EventRecord record_of(std::uint64_t load, KeyEventKind kind = KeyEventKind::LimitStart,
                      std::uint32_t rule = 0, std::uint8_t limit = 0) {
    EventRecord record{};
    record.load = load;
    record.utc = Nanoseconds{7};
    record.length = Nanoseconds{8};
    record.rule = rule;
    record.kind = kind;
    record.limit = limit;
    return record;
}
std::string no_pair(std::uint64_t) {
    return {};
}

TEST(EventLog, NumbersAndNames) {
    EventLog log{4};
    log.adopt(set_of(1, "a"));
    EXPECT_EQ(log.read(0, 10).next, 1U);
    log.take(record_of(1), 3, no_pair);
    log.take(record_of(1, KeyEventKind::BanStart, 0, 9), 3, no_pair);
    const EventLog::Slice slice = log.read(0, 10);
    ASSERT_EQ(slice.events.size(), 2U);
    EXPECT_EQ(slice.next, 3U);
    EXPECT_EQ(slice.missed, 0U);
    EXPECT_EQ(slice.events[0], (KeyEvent{.number = 1,
                                         .kind = KeyEventKind::LimitStart,
                                         .utc_ns = 7,
                                         .for_ns = 8,
                                         .lcore = 3,
                                         .lost = 0,
                                         .rule = "a",
                                         .limit = "1",
                                         .key = ""}));
    EXPECT_EQ(slice.events[1].limit, "");
    EXPECT_EQ(log.read(3, 10).events.size(), 0U);
    EXPECT_EQ(log.read(2, 10).events.size(), 1U);
    EXPECT_EQ(log.read(1, 1).next, 2U);
    EXPECT_EQ(log.count(KeyEventKind::LimitStart), 1U);
}

TEST(EventLog, TheOldestGoesAndWhoComesLateIsTold) {
    EventLog log{4};
    log.adopt(set_of(1, "a"));
    for (int i = 0; i < 10; ++i) {
        log.take(record_of(1), 0, no_pair);
    }
    const EventLog::Slice late = log.read(3, 10);
    EXPECT_EQ(late.missed, 4U);  // 3 to 6
    EXPECT_EQ(late.events.size(), 4U);
    EXPECT_EQ(late.events.front().number, 7U);
    EXPECT_EQ(log.read(0, 10).missed, 0U);  // who asks for the oldest misses nothing
    EXPECT_EQ(log.read(7, 10).missed, 0U);
    EXPECT_EQ(log.read(99, 10).next, 11U);
}

TEST(EventLog, OfRulesThatNobodyKnowsAnyMore) {
    EventLog log;
    for (std::uint64_t load = 1; load <= EventLog::kKnownSets + 1; ++load) {
        log.adopt(set_of(load, "rule" + std::to_string(load)));
    }
    log.take(record_of(2), 0, no_pair);
    EXPECT_EQ(log.read(0, 9).events.front().rule, "rule2");
    log.take(record_of(1), 0, no_pair);                                // forgotten
    log.take(record_of(2, KeyEventKind::LimitEnd, 1), 0, no_pair);     // no such rule
    log.take(record_of(2, KeyEventKind::LimitEnd, 0, 1), 0, no_pair);  // no such limit
    log.lose(5, Nanoseconds{1});
    log.lose(0, Nanoseconds{1});
    EXPECT_EQ(log.count(KeyEventKind::Lost), 8U);
    EXPECT_EQ(log.count(KeyEventKind::LimitEnd), 0U);
    const EventLog::Slice slice = log.read(0, 9);
    ASSERT_EQ(slice.events.size(), 5U);
    EXPECT_EQ(slice.events.back().kind, KeyEventKind::Lost);
    EXPECT_EQ(slice.events.back().lost, 5U);
}

TEST(EventLog, TellsOfWhatWasForgiven) {
    EventLog log;
    log.debts_forgiven("", "", 5, Nanoseconds{7});
    log.debts_forgiven("r", "10.0.0.1", 2, Nanoseconds{8});
    const EventLog::Slice slice = log.read(0, 9);
    ASSERT_EQ(slice.events.size(), 2U);
    EXPECT_EQ(
        slice.events[0],
        (KeyEvent{.number = 1, .kind = KeyEventKind::DebtsForgiven, .utc_ns = 7, .packets = 5}));
    EXPECT_EQ(slice.events[1], (KeyEvent{.number = 2,
                                         .kind = KeyEventKind::DebtsForgiven,
                                         .utc_ns = 8,
                                         .packets = 2,
                                         .rule = "r",
                                         .key = "10.0.0.1"}));
    EXPECT_EQ(log.count(KeyEventKind::DebtsForgiven), 2U);
}

TEST(EventLog, TellsOfServicesWhoseChecksumsAreTrusted) {
    EventLog log;
    log.checksums_trusted("web", "clients", Nanoseconds{7});
    const EventLog::Slice slice = log.read(0, 9);
    ASSERT_EQ(slice.events.size(), 1U);
    EXPECT_EQ(slice.events[0], (KeyEvent{.number = 1,
                                         .kind = KeyEventKind::ChecksumsTrusted,
                                         .utc_ns = 7,
                                         .limit = "clients",
                                         .key = "web"}));
    EXPECT_EQ(log.count(KeyEventKind::ChecksumsTrusted), 1U);
}

}  // namespace
}  // namespace sluice::event_log_test
