#include "control/cli/stats_text.hpp"

#include <gtest/gtest.h>

namespace sluice::stats_text_test {
namespace {

Json stats(std::uint64_t passed, std::uint64_t dropped, bool panic = false) {
    return {{"generation", "00000000000000ab"},
            {"uptime_s", 12},
            {"panic", panic},
            {"packets", passed + dropped},
            {"verdicts", {{"pass", passed}, {"tag", 0}, {"drop", dropped}}},
            {"reasons", {{"within_limits", passed}, {"over_limit", dropped}}},
            {"table_full", 0},
            {"connections", {{"connections", 0}, {"half_heads", 0}}},
            {"connection_events", {{"opened", 0}, {"refused_full", 0}}},
            {"unread_connections", {{"http_gap", 0}, {"none_other", 0}}},
            {"asks", {{"waiting_packets", 0}, {"reservations", 0}}},
            {"ask_events", {{"asked", 0}, {"no_answer", 0}}},
            {"would_refuse", {{"unreadable", 0}, {"bad_ack", 0}}},
            {"services", Json::array()},
            {"rules",
             {{{"id", "r"},
               {"mode", "enforce"},
               {"matched", passed + dropped},
               {"admitted", passed},
               {"exceeded", dropped},
               {"skipped", 0}}}}};
}

TEST(StatsText, ShowsCountsThatAreNotZero) {
    const std::string text = stats_text(stats(1'000, 5));
    EXPECT_EQ(text,
              "generation 00000000000000ab, up 12s, 1,005 packets\n\n"
              "VERDICT  PACKETS\npass       1,000\ndrop           5\n\n"
              "REASON         PACKETS\nwithin_limits    1,000\nover_limit           5\n\n"
              "RULE  MODE     MATCHED  ADMITTED  EXCEEDED  SKIPPED\n"
              "r     enforce    1,005     1,000         5        0\n");
}

TEST(StatsText, SaysThatZerosOfRulesThatAreOffOrEndedAreNoCounts) {
    const std::string note = "count nothing: what they counted before is not shown here\n";
    Json now = stats(0, 0);
    EXPECT_EQ(stats_text(now).find(note), std::string::npos);
    now["rules"][0]["mode"] = "off";
    EXPECT_NE(stats_text(now).find("r     off "), std::string::npos) << stats_text(now);
    EXPECT_NE(stats_text(now).find(note), std::string::npos);
    now["rules"][0]["ended"] = true;
    EXPECT_NE(stats_text(now).find("r     ended "), std::string::npos) << stats_text(now);
    EXPECT_NE(stats_text(now).find(note), std::string::npos);
}

TEST(StatsText, ShowsWhatWasDroppedForARuleThatDidNotMatchIt) {
    Json now = stats(0, 0);
    EXPECT_EQ(stats_text(now).find("BANNED SOURCES OF"), std::string::npos);
    EXPECT_EQ(stats_text(now).find("DROPPED EARLY BY"), std::string::npos);
    now["rules"][0]["banned_sources"] = 1'200;
    now["rules"][0]["early_dropped"] = 34;
    const std::string text = stats_text(now);
    EXPECT_NE(text.find("\n\nBANNED SOURCES OF  PACKETS\nr                    1,200\n\n"
                        "DROPPED EARLY BY  PACKETS\nr                      34\n"),
              std::string::npos)
        << text;
    Json before = now;
    before["rules"][0]["banned_sources"] = 200;
    const std::string rates = stats_text(now, &before, 2.0);
    EXPECT_NE(rates.find("1,200  500"), std::string::npos) << rates;
}

TEST(StatsText, ShowsOpenConnectionsOfRulesThatCountThem) {
    Json now = stats(1'000, 5);
    now["rules"].push_back(now["rules"][0]);
    now["rules"][1]["open_connections"] = 1'200;
    EXPECT_NE(stats_text(now).find("EXCEEDED  SKIPPED   OPEN\n"
                                   "r     enforce    1,005     1,000         5        0\n"
                                   "r     enforce    1,005     1,000         5        0  1,200\n"),
              std::string::npos)
        << stats_text(now);
}

TEST(StatsText, ShowsConnectionsWhereThereAreAny) {
    Json now = stats(1'000, 5);
    now["connections"]["half_heads"] = 1'200;
    now["connection_events"]["opened"] = 3'000;
    EXPECT_NE(stats_text(now).find("\nREMEMBERED    NOW\nhalf_heads  1,200\n\n"
                                   "CONNECTION EVENT  TIMES\nopened            3,000\n"),
              std::string::npos)
        << stats_text(now);
    const Json before = stats(1'000, 5);
    EXPECT_NE(stats_text(now, &before, 2).find("opened            3,000  1,500\n"),
              std::string::npos)
        << stats_text(now, &before, 2);
}

TEST(StatsText, ShowsConnectionsThatWentUnread) {
    Json now = stats(1'000, 5);
    now["unread_connections"]["http_gap"] = 1'200;
    now["unread_connections"]["none_other"] = 3;
    EXPECT_NE(stats_text(now).find("\nUNREAD  READ BEFORE  CONNECTIONS\n"
                                   "gap     http               1,200\n"
                                   "other   nothing                3\n"),
              std::string::npos)
        << stats_text(now);
    const Json before = stats(1'000, 5);
    EXPECT_NE(stats_text(now, &before, 2).find("gap     http               1,200  600\n"),
              std::string::npos)
        << stats_text(now, &before, 2);
}

TEST(StatsText, ShowsServicesWithTheirModesAndWhatTheyWouldRefuse) {
    Json now = stats(1'000, 5);
    now["services"] = {
        {{"id", "web"},
         {"protocol", "http"},
         {"mode", "monitor"},
         {"file_mode", "enforce"},
         {"checksums", {{"clients", "verifying"}, {"servers", "trusting"}}}},
        {{"id", "names"}, {"protocol", "dns"}, {"mode", "off"}, {"file_mode", "off"}}};
    now["would_refuse"]["unreadable"] = 1'200;
    EXPECT_NE(stats_text(now).find(
                  "\nSERVICE  PROTOCOL  MODE                     CHECKSUMS OF CLIENTS  OF SERVERS\n"
                  "web      http      monitor (file: enforce)  verifying             trusting\n"
                  "names    dns       off\n\n"
                  "SERVICES WOULD REFUSE  PACKETS\nunreadable               1,200\n"),
              std::string::npos)
        << stats_text(now);
    now["would_refuse"]["unreadable"] = 0;
    EXPECT_EQ(stats_text(now).find("WOULD REFUSE"), std::string::npos);
    const Json before = now;
    now["would_refuse"]["bad_ack"] = 6;
    EXPECT_NE(stats_text(now, &before, 2).find("bad_ack                      6   3\n"),
              std::string::npos)
        << stats_text(now, &before, 2);
}

TEST(StatsText, ShowsQuestionsToOwnersWhereThereAreAny) {
    Json now = stats(1'000, 5);
    now["asks"]["reservations"] = 12;
    now["ask_events"]["no_answer"] = 3;
    EXPECT_NE(stats_text(now).find("\nASKING OWNERS  NOW\nreservations    12\n\n"
                                   "ASK EVENT  TIMES\nno_answer      3\n"),
              std::string::npos)
        << stats_text(now);
}

TEST(StatsText, ShowsRatesOverTheTimeThatPassed) {
    const Json before = stats(1'000, 5);
    const std::string text = stats_text(stats(4'000, 5), &before, 1.5);
    EXPECT_NE(text.find("pass       4,000  2,000\n"), std::string::npos) << text;
    EXPECT_NE(text.find("drop           5      0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("2,000           0\n"), std::string::npos) << text;
}

TEST(StatsText, ShowsBytesAndBitsByVerdictAndRule) {
    Json now = stats(4'000, 5);
    now["verdict_bytes"] = {{"pass", 400'000}, {"tag", 0}, {"drop", 500}};
    now["rules"][0]["admitted_bytes"] = 400'000;
    now["rules"][0]["exceeded_bytes"] = 500;
    now["rules"][0]["keys"] = 1'234;
    Json before = now;
    before["verdict_bytes"]["pass"] = 150'000;
    before["rules"][0]["admitted_bytes"] = 150'000;
    const std::string text = stats_text(now, &before, 2);
    EXPECT_NE(text.find("VERDICT  PACKETS  /S   BYTES        BIT/S\n"
                        "pass       4,000   0  400 kB  1.00 Mbit/s\n"
                        "drop           5   0   500 B      0 bit/s\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("BYTES ADMITTED  BYTES EXCEEDED  ADMITTED BIT/S  EXCEEDED BIT/S   KEYS\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("        400 kB           500 B     1.00 Mbit/s         0 bit/s  1,234\n"),
              std::string::npos)
        << text;
}

TEST(StatsText, ShowsWhichLimitsRefusedOfRulesWithSeveral) {
    Json now = stats(1'000, 5);
    now["rules"][0]["limits"] = {{{"name", "t1.1"}, {"refused", 4}, {"keys", 20}},
                                 {{"name", "t2.1"}, {"refused", 1}, {"keys", 2}}};
    EXPECT_NE(stats_text(now).find("\nRULE  LIMIT  REFUSED  KEYS\n"
                                   "r     t1.1         4    20\n"
                                   "r     t2.1         1     2\n"),
              std::string::npos)
        << stats_text(now);
}

// A dataplane that was restarted counts from zero again.
TEST(StatsText, ShowsNoRateForACountThatFell) {
    const Json before = stats(5'000, 5);
    const std::string text = stats_text(stats(4'000, 5), &before, 1);
    EXPECT_NE(text.find("pass       4,000\n"), std::string::npos) << text;
}

TEST(StatsText, ShowsPanicLoudly) {
    EXPECT_EQ(stats_text(stats(1, 1)).find("PANIC"), std::string::npos);
    EXPECT_NE(stats_text(stats(1, 1, true)).find("PANIC"), std::string::npos);
}

}  // namespace
}  // namespace sluice::stats_text_test
