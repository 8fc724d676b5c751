#include "control/preview/judged_draft.hpp"

#include "control/preview/unknowns.hpp"
#include "lib/watch/trace/preview_tap.hpp"
#include "tests/packets/load_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sluice::judged_draft_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kStart = 1'764'000'000'000'000'000;

Result<DraftRules> draft_of(const std::string& rule) {
    return draft_rules(test::enforced(
        {.file = "d", .text = "version: 1\nrules:\n  - {id: d, mode: monitor, " + rule + "}\n"}));
}
DraftRules sound(const std::string& rule) {
    Result<DraftRules> made = draft_of(rule);
    if (!made) {
        throw std::runtime_error(made.error().what);
    }
    return *std::move(made);
}
PreviewRecord record(std::uint64_t key, Nanoseconds at, PreviewAmounts amounts) {
    return {kStart + at.count(), {preview_digest(key + 1), 0}, amounts};
}
PreviewAmounts packets(std::uint64_t count, std::uint64_t bytes_each = 100) {
    return {.packets = count, .bytes = count * bytes_each};
}

constexpr const char* kBucket =
    "key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 5}]";

TEST(JudgedDraft, RefusesWhatTheLimitDoes) {
    struct Row {
        std::string rule;
        std::vector<PreviewRecord> records;
        std::uint64_t offered;
        std::uint64_t refused;
        std::uint64_t refused_groups;
    };
    const std::vector<Row> rows{
        {kBucket, {record(1, 0s, packets(5)), record(2, 0s, packets(3))}, 8, 0, 0},
        {kBucket, {record(1, 0s, packets(9)), record(2, 0s, packets(3))}, 12, 4, 1},
        // Half a second brings five more.
        {kBucket, {record(1, 0s, packets(5)), record(1, 500ms, packets(6))}, 11, 1, 1},
        // A flood at one instant, of which most is not fed packet by packet.
        {kBucket, {record(1, 0s, packets(100'000))}, 100'000, 99'995, 1},
        {"key: [ip.src], limits: [{algorithm: token_bucket, rate: 1KB/s, burst: 1000B, per: byte}]",
         {record(1, 0s, packets(12, 100))},
         1'200,
         200,
         1},
        {"key: [ip.src], limits: [{algorithm: fixed_window, count: 2, window: 10s, per: "
         "connection}]",
         {record(1, 0s, {.packets = 9, .bytes = 900, .openings = 3}), record(1, 1s, packets(50))},
         3,
         1,
         1},
        {"when: http.request.method eq \"GET\", key: [ip.src], limits: [{algorithm: fixed_window, "
         "count: "
         "2, window: 10s, per: request}]",
         {record(1, 0s, {.packets = 1, .bytes = 300, .units = 4})},
         4,
         2,
         1},
        {"key: [], limits: [{algorithm: fixed_window, count: 7, window: 1h}]",
         {record(1, 0s, packets(4)), record(1, 1s, packets(4))},
         8,
         1,
         1},
        {"key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}], cost: 2",
         {record(1, 0s, packets(2))},
         2,
         2,
         1},
    };
    for (const Row& row : rows) {
        const DraftRules draft = sound(row.rule);
        const std::optional<JudgedDraft> judged = judge(draft, row.records, 0);
        ASSERT_TRUE(judged) << row.rule;
        EXPECT_EQ(judged->offered, row.offered) << row.rule;
        EXPECT_EQ(judged->refused, row.refused) << row.rule;
        EXPECT_EQ(judged->refused_groups, row.refused_groups) << row.rule;
    }
}

// Of thirty at once ten are green, ten yellow and ten red.
TEST(JudgedDraft, ColorsAreRefusedAsTheDraftSays) {
    const std::string meter =
        "key: [ip.src], limits: [{algorithm: srtcm, cir: 10/s, cbs: 10, ebs: 10}]";
    const auto refused = [&](const std::string& more) {
        const DraftRules draft = sound(meter + more);
        const std::vector<PreviewRecord> records{record(1, 0s, packets(30))};
        const std::optional<JudgedDraft> judged = judge(draft, records, 0);
        return std::pair{judged ? judged->refused : 1'000, draft.gaps.lets_on};
    };
    EXPECT_EQ(refused(""), (std::pair{std::uint64_t{10}, false}));
    EXPECT_EQ(refused(", on_color: {yellow: {action: drop}}"),
              (std::pair{std::uint64_t{20}, false}));
    EXPECT_EQ(refused(", on_color: {red: {action: tag, dscp: 8}}"),
              (std::pair{std::uint64_t{0}, true}));
}

TEST(JudgedDraft, CountsByLimitAndNamesTheMostRefusedFirst) {
    const DraftRules draft = sound(
        "key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 5}, "
        "{algorithm: token_bucket, rate: 1KB/s, burst: 200B, per: byte}]");
    const std::vector<PreviewRecord> records{record(1, 0s, packets(2, 150)),
                                             record(2, 0s, packets(9, 30)),
                                             record(3, 0s, packets(30, 30))};
    const std::optional<JudgedDraft> judged = judge(draft, records, 0);
    ASSERT_TRUE(judged);
    EXPECT_EQ(judged->by_limit, (std::vector<std::uint64_t>{4 + 25, 150}));
    ASSERT_EQ(judged->most.size(), 3U);
    EXPECT_EQ(judged->most[0], (JudgedGroup{preview_digest(4), 30, 25}));
    EXPECT_EQ(judged->most[1], (JudgedGroup{preview_digest(3), 9, 4}));
    EXPECT_EQ(judged->heatmaps.size(), 2U);
    EXPECT_EQ(judged->heatmaps[0].at("columns")[0].at("groups"), 3);
}

TEST(JudgedDraft, DraftsThatAmountsSayNothingOfAreRefused) {
    for (const std::string rule :
         {"key: [ip.src], limits: [{algorithm: concurrency, count: 5, idle: 30s}]",
          "key: [ip.src], limits: [{algorithm: distinct, of: l4.dport, count: 5, window: 1m}]"}) {
        EXPECT_FALSE(draft_of(rule)) << rule;
    }
    const DraftRules some = sound(
        "key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 5}, "
        "{algorithm: concurrency, count: 5, idle: 30s}]");
    EXPECT_EQ(some.gaps.limits, std::vector<std::string>{"2"});
    EXPECT_TRUE(sound("on_match: drop").refuses_all);
    EXPECT_FALSE(sound("on_match: allow").refuses_all);
    EXPECT_FALSE(sound("on_match: drop").gaps.one_bucket);
    EXPECT_TRUE(
        sound("key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]").gaps.one_bucket);
}

// A drawn population: most send little, some far too much. One in eight of the groups says of all
// of them what it may: within four standard errors.
TEST(JudgedDraft, ASampleSaysOfAllWhatItMay) {
    std::mt19937_64 random{42};
    std::vector<PreviewRecord> all;
    for (std::uint64_t key = 0; key < 8'000; ++key) {
        const std::uint64_t count = key % 10 == 0 ? 6 + random() % 20 : 1 + random() % 4;
        const auto at = std::chrono::milliseconds{random() % 9'000};
        all.push_back(record(key, at, packets(count)));
    }
    std::ranges::sort(all, {}, &PreviewRecord::utc_ns);
    constexpr unsigned kBits = 3;
    std::vector<PreviewRecord> some;
    std::ranges::copy_if(all, std::back_inserter(some), [](const PreviewRecord& one) {
        return one.digests[0] <= ~std::uint64_t{0} >> kBits;
    });
    const DraftRules draft = sound(kBucket);
    const std::optional<JudgedDraft> exact = judge(draft, all, 0);
    const std::optional<JudgedDraft> sampled = judge(draft, some, kBits);
    ASSERT_TRUE(exact && sampled);
    const double error = std::sqrt((1.0 - 1.0 / 8) * sampled->refused_squares) * 8;
    EXPECT_GT(error, 0);
    EXPECT_NEAR(8.0 * static_cast<double>(sampled->refused), static_cast<double>(exact->refused),
                4 * error);
    const double groups = std::sqrt(8'000.0 * 7);
    EXPECT_NEAR(8.0 * static_cast<double>(sampled->groups), 8'000.0, 4 * groups);
    const Json& column = sampled->heatmaps[0].at("columns")[0];
    EXPECT_EQ(column.at("one_in"), 8);
}

TEST(JudgedDraft, StopsAtItsBounds) {
    const DraftRules draft = sound(kBucket);
    const std::vector<PreviewRecord> records{record(1, 0s, packets(500)),
                                             record(2, 0s, packets(500))};
    EXPECT_FALSE(judge(draft, records, 0, {.frames = 10}));
    EXPECT_FALSE(judge(draft, records, 0, {.goes_on = [] { return false; }}));
    // Within one record of which nothing is skipped, too.
    const DraftRules bans =
        sound(std::string{kBucket} + ", ban: {after: 1000, within: 60s, for: 60s}");
    const std::vector<PreviewRecord> endless{record(1, 0s, packets(std::uint64_t{1} << 63))};
    EXPECT_FALSE(judge(bans, endless, 0, {.frames = 5'000}));
    EXPECT_FALSE(
        judge(bans, endless, 0, {.goes_on = [left = 9]() mutable { return --left != 0; }}));
}

constexpr const char* kTiers =
    "tiers: [{key: [ip.src], limits: [{algorithm: fixed_window, count: 5, window: 1h}]}, "
    "{key: [l4.dport], limits: [{algorithm: fixed_window, count: 8, window: 1h}]}]";

PreviewRecord of_two_keys(std::uint64_t key, std::uint64_t second, std::uint64_t count) {
    PreviewRecord made = record(key, 0s, packets(count));
    made.digests[1] = second == 0 ? 0 : preview_digest(second);
    return made;
}

// Twelve packets of three sources under the second limit: four are too many. Those that lack its
// key are not under it.
TEST(JudgedDraft, PacketsWithoutTheSecondKeyAreNotUnderItsLimits) {
    const DraftRules draft = sound(kTiers);
    const auto refused = [&](std::uint64_t second) {
        const std::vector<PreviewRecord> records{
            of_two_keys(1, second, 4), of_two_keys(2, second, 4), of_two_keys(3, second, 4)};
        const std::optional<JudgedDraft> judged = judge(draft, records, 0);
        return judged ? judged->by_limit : std::vector<std::uint64_t>{};
    };
    EXPECT_EQ(refused(9), (std::vector<std::uint64_t>{0, 4}));
    EXPECT_EQ(refused(0), (std::vector<std::uint64_t>{0, 0}));
}

std::string text_of(const Json& unknown, std::string_view code) {
    for (const Json& one : unknown) {
        if (one.at("code") == code) {
            return one.at("text").get<std::string>();
        }
    }
    return "";
}

TEST(JudgedDraft, PacketsWithoutTheKeyAreToldOfAsTheDraftTakesThem) {
    PreviewLog log{0, 1, true};
    log.add({.known = true, .keyless = 3});
    const auto told = [&](const std::string& rule) {
        return text_of(unknowns_json(sound(rule), log, {}), "keyless");
    };
    EXPECT_EQ(told(kBucket), "3 matching packets lack the draft's key, and are not limited by it");
    EXPECT_EQ(told(kTiers), "3 matching packets lack the draft's first key, and are not judged");
    EXPECT_EQ(told("on_match: drop"), "");
}

TEST(JudgedDraft, WindowsOfABoxsOwnClockAreSaidToBeginElsewhere) {
    const PreviewLog log{0, 1, true};
    const auto told = [&](const std::string& limit) {
        const std::string rule = "key: [ip.src], limits: [" + limit + "]";
        return !text_of(unknowns_json(sound(rule), log, {}), "windows").empty();
    };
    EXPECT_TRUE(told("{algorithm: sliding_window, count: 5, window: 10s}"));
    EXPECT_TRUE(told("{algorithm: fixed_window, count: 5, window: 10s, phase: per_key}"));
    EXPECT_FALSE(told("{algorithm: fixed_window, count: 5, window: 10s}")) << "they begin by UTC";
    EXPECT_FALSE(told("{algorithm: token_bucket, rate: 1/s, burst: 1}"));
}

TEST(JudgedDraft, PacketsOfOtherBoxesAreSaidToBeLeftOut) {
    const PreviewLog log{0, 1, true};
    const auto told = [&](const std::string& scope) {
        return text_of(
            unknowns_json(sound("key: [ip.src], limits: [{algorithm: token_bucket, rate: "
                                "10/s, burst: 1000" +
                                scope + "}]"),
                          log, {}),
            "boxes");
    };
    EXPECT_NE(told(", scope: cluster").find("packets of this box alone"), std::string::npos);
    EXPECT_EQ(told(""), "");
}

TEST(JudgedDraft, HoursOfADraftAreSaidToBeLeftOut) {
    const PreviewLog log{0, 1, true};
    const auto told = [&](const std::string& hours) {
        return text_of(unknowns_json(sound(kBucket + hours), log, {}), "hours");
    };
    EXPECT_EQ(told(", active: {days: mon, hours: 08:00-09:00, zone: UTC}"),
              "the draft is judged as active, whatever its hours are now");
    EXPECT_EQ(told(""), "");
}

// Groups of the second key have other groups of the first, which a sample of these leaves out.
TEST(JudgedDraft, ASampleIsNotJudgedByTheSecondKey) {
    const DraftRules draft = sound(kTiers);
    EXPECT_EQ(draft.judged_at(0), &draft);
    EXPECT_EQ(draft.gaps.second_key, std::vector<std::string>{"t2.1"});
    const DraftRules* const sampled = draft.judged_at(1);
    ASSERT_NE(sampled, nullptr);
    EXPECT_EQ(sampled->limit_names, std::vector<std::string>{"t1.1"});
    const std::vector<PreviewRecord> records{of_two_keys(1, 9, 7), of_two_keys(2, 9, 4)};
    const std::optional<JudgedDraft> judged = judge(*sampled, records, 1);
    ASSERT_TRUE(judged);
    EXPECT_EQ(judged->by_limit, std::vector<std::uint64_t>{2});
    const DraftRules one_key = sound(kBucket);
    EXPECT_EQ(one_key.judged_at(9), &one_key);
}

TEST(JudgedDraft, AnAnswerOfASampleNamesWhatIsNotJudged) {
    PreviewedPackets shown{.known = true, .bits = 1};
    PreviewLog log{0, 1, true};
    const auto texts = [&](const DraftRules& draft) {
        std::string all;
        for (const Json& one : unknowns_json(draft, log, {})) {
            all +=
                one.at("code").get<std::string>() + ": " + one.at("text").get<std::string>() + "\n";
        }
        return all;
    };
    const DraftRules draft =
        sound(std::string{kTiers} + ", ban: {after: 10, within: 60s, for: 60s}");
    EXPECT_EQ(texts(draft).find("second key"), std::string::npos) << texts(draft);
    log.add(std::move(shown));
    EXPECT_NE(texts(draft).find(
                  "not_judged: not judged: t2.1, its ban, whose groups are of the second key"),
              std::string::npos)
        << texts(draft);
}

}  // namespace
}  // namespace sluice::judged_draft_test
