#include "control/daemon/api/metrics_text.hpp"

#include "tests/fakes/fake_dataplane.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

namespace sluice::metrics_text_test {
namespace {

Stats example() {
    ApplyRules rules;
    rules.rules.rules.resize(2);
    rules.rules.rules[0].id = "a";
    rules.rules.rules[1].id = "b";
    rules.rules.generation = 0xAB;
    return FakeDataplane::stats_of(rules, true);
}

std::string value_of(const std::string& text, const std::string& series) {
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) {
        return "absent";
    }
    const std::size_t start = at + series.size() + 2;
    return text.substr(start, text.find('\n', start) - start);
}

TEST(Metrics, WithoutADataplane) {
    const std::string text = metrics_text(std::nullopt, {});
    EXPECT_EQ(value_of(text, "sluice_dataplane_up"), "0");
    EXPECT_EQ(value_of(text, R"(sluice_build_info{version=")" SLUICE_VERSION "\"}"), "1");
    EXPECT_EQ(text.find("sluice_packets"), std::string::npos);
}

TEST(Metrics, RulesOnTrialAndThoseThatWent) {
    RuleView view;
    EXPECT_EQ(value_of(metrics_text(std::nullopt, view), "sluice_rules_unconfirmed"), "0");
    view.unconfirmed = Unconfirmed{};
    view.reverts = 3;
    const std::string text = metrics_text(std::nullopt, view);
    EXPECT_EQ(value_of(text, "sluice_rules_unconfirmed"), "1");
    EXPECT_EQ(value_of(text, "sluice_rules_reverts_total"), "3");
}

TEST(Metrics, OpenConnectionsOfRulesThatCountThem) {
    Stats stats = example();
    stats.rules.at(1).open_connections = 17;
    const std::string text = metrics_text(stats, {});
    EXPECT_EQ(value_of(text, R"(sluice_rule_open_connections{rule="b"})"), "17");
    EXPECT_EQ(value_of(text, R"(sluice_rule_open_connections{rule="a"})"), "absent");
}

TEST(Metrics, CyclesOfEachWorkerByStageAndTheirPackets) {
    const std::string text = metrics_text(example(), {});
    EXPECT_EQ(value_of(text, R"(sluice_worker_cycles_total{lcore="1",stage="receive"})"), "160");
    EXPECT_EQ(value_of(text, R"(sluice_worker_cycles_total{lcore="2",stage="idle"})"), "395");
    EXPECT_EQ(value_of(text, R"(sluice_worker_cycles_packets_total{lcore="2"})"), "10");
}

// Most counts of most rules are 0 for ever: they cost no series.
TEST(Metrics, CountsOfARuleAppearWithTheirFirstEvent) {
    Stats stats = example();
    stats.rules.at(0) = {.id = "a"};
    stats.rules.at(1).counts.bans = 2;
    stats.rules.at(1).overshoot.max_unsynced = 31;
    stats.rules.at(1).overshoot.promised = 62;
    const std::string before = metrics_text(stats, {});
    EXPECT_EQ(value_of(before, R"(sluice_rule_packets_total{rule="a",outcome="admitted"})"), "0");
    EXPECT_EQ(value_of(before, R"(sluice_rule_packets_total{rule="a",outcome="exceeded"})"),
              "absent");
    EXPECT_EQ(value_of(before, R"(sluice_rule_packets_total{rule="a",outcome="skipped"})"),
              "absent");
    EXPECT_EQ(value_of(before, R"(sluice_rule_bans_total{rule="a"})"), "absent");
    EXPECT_EQ(value_of(before, R"(sluice_rule_bans_total{rule="b"})"), "2");
    EXPECT_EQ(value_of(before, R"(sluice_rule_promised_overshoot_units{rule="b"})"), "absent");
    stats.rules.at(1).overshoot.measured = 5;
    const std::string beyond = metrics_text(stats, {});
    EXPECT_EQ(value_of(beyond, R"(sluice_rule_max_unsynced_units{rule="b"})"), "31");
    EXPECT_EQ(value_of(beyond, R"(sluice_rule_promised_overshoot_units{rule="b"})"), "62");
    EXPECT_EQ(value_of(beyond, R"(sluice_rule_measured_overshoot_units{rule="b"})"), "5");
}

TEST(Metrics, ModesOfRules) {
    RuleView view;
    view.rules.resize(4);
    view.rules[0] = {.id = "watched", .mode = Mode::Monitor};
    view.rules[1] = {.id = "sharp", .mode = Mode::Enforce};
    view.rules[2] = {.id = "idle", .mode = Mode::Off};
    view.rules[3] = {.id = "sharper", .mode = Mode::Enforce};
    // A span of no day is never; one that is off is off whatever the hour.
    view.rules[2].active = view.rules[3].active =
        ActiveTimes{.schedule = {std::make_shared<const ZoneOffsets>(), {}}, .text = ""};
    const std::string text = metrics_text(std::nullopt, view);
    EXPECT_EQ(value_of(text, R"(sluice_rules{mode="enforce"})"), "2");
    EXPECT_EQ(value_of(text, R"(sluice_rules{mode="monitor"})"), "1");
    EXPECT_EQ(value_of(text, R"(sluice_rules{mode="off"})"), "1");
    EXPECT_EQ(value_of(text, R"(sluice_rule_mode_info{rule="watched",mode="monitor"})"), "1");
    EXPECT_EQ(value_of(text, R"(sluice_rule_mode_info{rule="idle",mode="off"})"), "1");
    EXPECT_EQ(text.find(R"(rule="sharp")"), std::string::npos);
    EXPECT_EQ(value_of(text, R"(sluice_rule_inactive_info{rule="sharper"})"), "1");
    EXPECT_EQ(text.find(R"(sluice_rule_inactive_info{rule="idle"})"), std::string::npos);
    EXPECT_EQ(text.find(R"(sluice_rule_inactive_info{rule="watched"})"), std::string::npos);
}

TEST(Metrics, ADataplaneWithOtherRulesThanSluicedHolds) {
    RuleView view{.generation = 0xAB};
    EXPECT_EQ(value_of(metrics_text(example(), view), "sluice_rules_behind"), "0");
    view.generation = 0xAC;
    EXPECT_EQ(value_of(metrics_text(example(), view), "sluice_rules_behind"), "1");
}

TEST(Metrics, ListsThatHaveChangedAndCannotBeRead) {
    RuleView view;
    EXPECT_EQ(value_of(metrics_text(std::nullopt, view), "sluice_lists_not_in_force"), "0");
    view.list_problem = "line 7 is no network";
    EXPECT_EQ(value_of(metrics_text(std::nullopt, view), "sluice_lists_not_in_force"), "1");
}

std::size_t series_in(const std::string& text) {
    std::istringstream lines{text};
    std::size_t series = 0;
    for (std::string line; std::getline(lines, line);) {
        series += line.starts_with('#') ? 0 : 1;
    }
    return series;
}

// A thousand rules that enforce, each of which has admitted and refused, has live keys, and has
// limits that refused: 3,027 series with two ports and two workers.
TEST(Metrics, AThousandRulesHaveFewSeries) {
    ApplyRules rules;
    rules.rules.rules.resize(1'000);
    RuleView view;
    view.rules.resize(1'000);
    for (std::size_t i = 0; i < rules.rules.rules.size(); ++i) {
        rules.rules.rules[i].id = "rule-" + std::to_string(i);
        view.rules[i] = {.id = rules.rules.rules[i].id, .mode = Mode::Enforce};
    }
    Stats stats = FakeDataplane::stats_of(rules, false);
    for (RuleStats& rule : stats.rules) {
        rule.counts.skipped = 0;
        rule.limits = {{"t1.1", 3, 4}, {"t2.1", 5, 6}};
    }
    const std::size_t series = series_in(metrics_text(stats, view));
    RecordProperty("series", std::to_string(series));
    EXPECT_GT(series, 2'000U);
    EXPECT_LT(series, 3'100U);
}

TEST(Metrics, BytesByVerdictAndRuleAndWhatTablesHold) {
    const std::string text = metrics_text(example(), {});
    EXPECT_EQ(value_of(text, R"(sluice_bytes_total{verdict="pass"})"), "18000");
    EXPECT_EQ(value_of(text, R"(sluice_bytes_total{verdict="drop"})"), "1280");
    EXPECT_EQ(value_of(text, R"(sluice_rule_bytes_total{rule="a",outcome="admitted"})"), "3000");
    EXPECT_EQ(value_of(text, R"(sluice_rule_bytes_total{rule="a",outcome="exceeded"})"), "1280");
    EXPECT_EQ(value_of(text, R"(sluice_rule_table_entries{rule="b"})"), "12");
    EXPECT_EQ(value_of(text, R"(sluice_worker_table_entries{lcore="1"})"), "3000");
    EXPECT_EQ(value_of(text, R"(sluice_worker_table_evictions_total{lcore="2"})"), "44");
    EXPECT_EQ(text.find("{rule=\"_others\""), std::string::npos);
}

TEST(Metrics, LimitsOfRulesWithSeveralThatHaveRefused) {
    Stats stats = example();
    stats.rules.at(0).limits = {{"t1.1", 5, 2}, {"t2.1", 0, 1}};
    const std::string text = metrics_text(stats, {});
    EXPECT_EQ(value_of(text, R"(sluice_limit_refused_packets_total{rule="a",limit="t1.1"})"), "5");
    EXPECT_EQ(value_of(text, R"(sluice_limit_refused_packets_total{rule="a",limit="t2.1"})"),
              "absent");
}

// Which rules are told of in detail is decided by the file, never by traffic.
TEST(Metrics, RulesBehindTheFirstAreSummedUp) {
    Stats stats = example();
    stats.rules.clear();
    for (std::size_t i = 0; i < 130; ++i) {
        RuleStats& rule = stats.rules.emplace_back();
        rule.id = "r" + std::to_string(i);
        rule.counts.admitted_bytes = i == 0 ? 0 : 100;
        rule.entries = 2;
    }
    const std::string text = metrics_text(stats, {});
    EXPECT_EQ(value_of(text, R"(sluice_rule_bytes_total{rule="r0",outcome="admitted"})"), "absent");
    EXPECT_EQ(value_of(text, R"(sluice_rule_bytes_total{rule="r127",outcome="admitted"})"), "100");
    EXPECT_EQ(value_of(text, R"(sluice_rule_bytes_total{rule="r128",outcome="admitted"})"),
              "absent");
    EXPECT_EQ(value_of(text, R"(sluice_rule_bytes_total{rule="_others",outcome="admitted"})"),
              "200");
    EXPECT_EQ(value_of(text, R"(sluice_rule_table_entries{rule="_others"})"), "4");
}

TEST(Metrics, Clocks) {
    Stats stats = example();
    stats.clock = {.set_back = 3,
                   .set_back_ns = 1'500'000'000,
                   .set_ahead = 2,
                   .instants_left_ns = 60'000'000'000};
    const std::string text = metrics_text(stats, {});
    EXPECT_EQ(value_of(text, "sluice_clock_set_back_total"), "3");
    EXPECT_EQ(value_of(text, "sluice_clock_set_back_seconds_total"), "1.5");
    EXPECT_EQ(value_of(text, "sluice_clock_set_ahead_total"), "2");
    EXPECT_EQ(value_of(text, "sluice_clock_instants_left_seconds"), "60");
}

TEST(Metrics, ChecksumsThatAreTrustedThoughNobodyAskedForThat) {
    Stats stats = example();
    stats.services = {{"web", ChecksumTrust::Trusting, ChecksumTrust::Verifying},
                      {"dns", ChecksumTrust::Off, ChecksumTrust::Learning}};
    const std::string text = metrics_text(stats, {});
    const auto trusted = [&](std::string_view labels) {
        return value_of(text, "sluice_service_checksums_trusted{" + std::string{labels} + "}");
    };
    EXPECT_EQ(trusted(R"(service="web",side="clients")"), "1");
    EXPECT_EQ(trusted(R"(service="web",side="servers")"), "0");
    EXPECT_EQ(trusted(R"(service="dns",side="clients")"), "0");
    EXPECT_EQ(trusted(R"(service="dns",side="servers")"), "0");
}

TEST(Metrics, StateThatSurvives) {
    Stats stats = example();
    stats.merge_interval_ns = 250'000;
    stats.state = {.survives = true,
                   .kept = 17,
                   .damaged = 9,
                   .former_debts = 4,
                   .moved_debts = 6,
                   .put_aside = 5,
                   .not_kept = 10};
    const std::string without = metrics_text(stats, {});
    EXPECT_EQ(value_of(without, "sluice_merge_interval_seconds"), "0.00025");
    EXPECT_EQ(value_of(without, "sluice_state_survives"), "1");
    EXPECT_EQ(value_of(without, "sluice_state_buckets_kept"), "17");
    EXPECT_EQ(value_of(without, "sluice_state_former_debts_total"), "4");
    EXPECT_EQ(value_of(without, "sluice_state_moved_debts_total"), "6");
    EXPECT_EQ(value_of(without, "sluice_state_put_aside_total"), "5");
    EXPECT_EQ(value_of(without, "sluice_state_not_kept_total"), "10");
    EXPECT_EQ(value_of(without, "sluice_state_buckets_damaged"), "9");
    EXPECT_EQ(without.find("sluice_snapshot"), std::string::npos);
    stats.state.has_snapshots = true;
    stats.state.snapshots.failed = 7;
    const std::string none_yet = metrics_text(stats, {});
    EXPECT_EQ(value_of(none_yet, R"(sluice_snapshots_total{outcome="failed"})"), "7");
    EXPECT_EQ(none_yet.find("sluice_snapshot_age"), std::string::npos);
    stats.state.snapshots.done = 1;
    stats.state.snapshots.latest.bytes = 8'192;
    stats.state.snapshots.latest.age_ns = 1'500'000'000;
    const std::string text = metrics_text(stats, {});
    EXPECT_EQ(value_of(text, "sluice_snapshot_bytes"), "8192");
    EXPECT_EQ(value_of(text, "sluice_snapshot_age_seconds"), "1.5");
}

TEST(Metrics, Values) {
    const std::string text = metrics_text(example(), {});
    const std::map<std::string, std::string> wanted{
        {"sluice_dataplane_up", "1"},
        {"sluice_dataplane_uptime_seconds", "2.5"},
        {R"(sluice_generation_info{generation="00000000000000ab"})", "1"},
        {"sluice_panic", "1"},
        {R"(sluice_packets_total{verdict="pass"})", "180"},
        {R"(sluice_packets_total{verdict="drop"})", "20"},
        {R"(sluice_packets_total{verdict="tag"})", "0"},
        {R"(sluice_packet_reasons_total{reason="over_limit"})", "20"},
        {R"(sluice_packet_reasons_total{reason="too_deep"})", "0"},
        {R"(sluice_rule_packets_total{rule="b",outcome="admitted"})", "30"},
        {R"(sluice_rule_packets_total{rule="b",outcome="exceeded"})", "20"},
        {R"(sluice_rule_packets_total{rule="b",outcome="skipped"})", "10"},
        {R"(sluice_port_receive_missed_total{pair="uplink",side="inside"})", "5"},
        {R"(sluice_port_up{pair="uplink",side="inside"})", "1"},
        {R"(sluice_port_info{pair="uplink",side="inside",device="net_tap1",driver="net_fake",)"
         R"(hashes="source"})",
         "1"},
        {R"(sluice_worker_stalled_seconds{lcore="2"})", "1.5"},
        {R"(sluice_worker_stalled_seconds{lcore="1"})", "0"},
        {R"(sluice_worker_table_full_total{lcore="1"})", "7"},
        {R"(sluice_worker_table_slots{lcore="1"})", "1048576"},
        {"sluice_connections", "80"},
        {"sluice_half_heads", "12"},
        {"sluice_held_lines", "24"},
        {"sluice_refused_connections", "6"},
        {"sluice_given_up_connections", "4"},
        {"sluice_quic_hellos", "18"},
        {"sluice_quic_half_hellos", "2"},
        {R"(sluice_connection_events_total{event="refused_full"})", "10"},
        {R"(sluice_connection_events_total{event="opened"})", "0"},
        {R"(sluice_unread_connections_total{protocol="http",reason="gap"})", "8"},
        {R"(sluice_unread_connections_total{protocol="none",reason="gap"})", "0"},
        {"sluice_ask_waiting_packets", "16"},
        {"sluice_ask_reservations", "30"},
        {R"(sluice_ask_events_total{event="no_answer"})", "22"},
        {R"(sluice_ask_events_total{event="answered"})", "0"},
    };
    for (const auto& [series, value] : wanted) {
        EXPECT_EQ(value_of(text, series), value) << series;
    }
}

TEST(Metrics, LabelsAreEscaped) {
    Stats stats = example();
    stats.ports[0].device = "a\"b\\c\nd";
    const std::string text = metrics_text(stats, {});
    EXPECT_EQ(value_of(text, R"(sluice_port_info{pair="uplink",side="outside",device="a\"b\\c\nd",)"
                             R"(driver="net_fake",hashes="source"})"),
              "1");
}

// The format itself: HELP and TYPE once before the samples of a family, every series once.
TEST(Metrics, EveryLineIsOfTheFormat) {
    const std::regex sample{
        R"re(([a-z_]+)(\{[a-z_]+="(\\.|[^"\\])*"(,[a-z_]+="(\\.|[^"\\])*")*\})? \S+)re"};
    std::istringstream lines{metrics_text(example(), {})};
    std::set<std::string> families;
    std::set<std::string> series;
    std::string family;
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (line.starts_with("# HELP ")) {
            family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(families.insert(family).second) << family << " is there twice";
            ASSERT_TRUE(std::getline(lines, line));
            EXPECT_TRUE(line == "# TYPE " + family + " counter" ||
                        line == "# TYPE " + family + " gauge")
                << line;
            EXPECT_EQ(line.ends_with("counter"), family.ends_with("_total")) << line;
            continue;
        }
        ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
        EXPECT_EQ(match[1], family) << line;
        EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
    EXPECT_GT(families.size(), 15U);
}

}  // namespace
}  // namespace sluice::metrics_text_test
