#include "tests/pktgen/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::pktgen::report_test {
namespace {

Options options() {
    Options made;
    made.traffic.profile = find_profile("udp");
    made.traffic.size = 64;
    return made;
}

std::unique_ptr<Trial> probed_trial() {
    auto trial = std::make_unique<Trial>();
    trial->is_probed = true;
    trial->seconds = 2;
    trial->sent = 4;
    trial->sent_bits = 4 * 672;
    for (const std::uint64_t number : {0, 2, 1}) {
        trial->order.take(number);
        trial->delays.add(2000);
        ++trial->received;
    }
    return trial;
}

TEST(PktgenReport, CountsWhatIsMissing) {
    const auto json =
        nlohmann::json::parse(report_json(options(), Trials{probed_trial(), nullptr}));
    EXPECT_EQ(json["sent"], 4);
    EXPECT_EQ(json["received"], 3);
    EXPECT_EQ(json["lost"], 1);
    EXPECT_EQ(json["sent_pps"], 2.0);
    EXPECT_EQ(json["reordered"], 1);
    EXPECT_EQ(json["size"], "64");
    EXPECT_EQ(json["delay_us"]["p50"], 2.0);
}

TEST(PktgenReport, MoreThanWasSentIsNoNegativeLoss) {
    Trial trial;
    trial.sent = 3;
    trial.received = 10;
    EXPECT_EQ(trial.lost(), 0U);
}

TEST(PktgenReport, ATrialThatEndedAtOnceHasNoRate) {
    const Trials trials{std::make_unique<Trial>(), nullptr};
    EXPECT_EQ(trials.there->sent_rate(), 0);
    EXPECT_NE(report_text(trials).find("0.0000 Mpps"), std::string::npos);
}

TEST(PktgenReport, BitsOfADroppedFrameWereOffered) {
    Trials trials{probed_trial(), nullptr};
    EXPECT_NE(report_text(trials).find("Gbit/s on the wire"), std::string::npos);
    trials.there->dropped = 1;
    EXPECT_NE(report_text(trials).find("Gbit/s offered on the wire"), std::string::npos);
}

TEST(PktgenReport, ASearchHasItsTrialsAndDelays) {
    SearchReport report;
    report.mean_wire_bits = 672;
    report.result.rate = 1e6;
    report.result.trials.push_back(
        {.asked = 1e6, .attained = 1e6, .sent = 10, .received = 10, .passed = true});
    report.result.trials.push_back(
        {.asked = 2e6, .attained = 2e6, .sent = 10, .received = 9, .why = "lost"});
    report.delays.push_back({0.5, {probed_trial(), nullptr}});
    const auto json = nlohmann::json::parse(report_json(options(), report));
    EXPECT_EQ(json["throughput_pps"], 1e6);
    EXPECT_EQ(json["throughput_gbit"], 0.672);
    EXPECT_EQ(json["trials"][1]["result"], "lost");
    EXPECT_EQ(json["delays"][0]["share"], 0.5);
    EXPECT_EQ(json["delays"][0]["lost"], 1);
    EXPECT_NE(report_text(report).find("delay at 50 %"), std::string::npos);
}

Trials both_ways() {
    Trials trials{probed_trial(), std::make_unique<Trial>()};
    trials.back->is_back = true;
    trials.back->seconds = 2;
    trials.back->sent = 10;
    trials.back->received = 8;
    return trials;
}

TEST(PktgenReport, EachDirectionHasItsFigures) {
    const auto json = nlohmann::json::parse(report_json(options(), both_ways()));
    EXPECT_EQ(json["lost"], 1);
    EXPECT_EQ(json["back"]["sent"], 10);
    EXPECT_EQ(json["back"]["lost"], 2);
    EXPECT_EQ(json["back"]["received_pps"], 4);
    const std::string text = report_text(both_ways());
    EXPECT_LT(text.find("there\n"), text.find("back\n"));
    EXPECT_NE(progress_text(*both_ways().back).find(", back"), std::string::npos);
}

TEST(PktgenReport, ASearchBothWaysHasBothOfEachTrialAndDelay) {
    SearchReport report;
    report.result.rate = 1e6;
    report.result.trials.push_back(both_ways().outcome());
    report.delays.push_back({0.9, both_ways()});
    const auto json = nlohmann::json::parse(report_json(options(), report));
    EXPECT_EQ(json["trials"][0]["back"]["received"], 8);
    EXPECT_EQ(json["delays"][0]["back"]["lost"], 2);
    EXPECT_NE(report_text(report).find("each way"), std::string::npos);
    EXPECT_NE(report_text(report).find("delay at 90 % back"), std::string::npos);
}

TEST(PktgenReport, ASearchThatFoundNothingSaysSo) {
    SearchReport report;
    report.result.trials.push_back({.asked = 2e6, .why = "nothing sent"});
    EXPECT_EQ(report_text(report),
              "throughput  none: none of 1 trials passed; the last: nothing sent\n");
    report.result.trials.back().why = "not sent";
    EXPECT_EQ(report_text(report),
              "throughput  none: none of 1 trials passed; the last: not sent\n");
}

TEST(PktgenReport, ASearchThatTheUserEndedSaysSo) {
    SearchReport report;
    report.result.interrupted = true;
    EXPECT_EQ(report_text(report), "throughput  none: interrupted after 0 trials\n");
    report.result.rate = 1e6;
    EXPECT_NE(report_text(report).find("; interrupted"), std::string::npos);
}

TEST(PktgenReport, ASearchSaysWhetherFramesCarriedProbes) {
    SearchReport report;
    report.result.trials.push_back({.sent = 10, .received = 9, .foreign = 3, .why = "lost"});
    EXPECT_EQ(nlohmann::json::parse(report_json(options(), report))["probed"], false);
    report.is_probed = true;
    const auto json = nlohmann::json::parse(report_json(options(), report));
    EXPECT_EQ(json["probed"], true);
    EXPECT_EQ(json["trials"][0]["foreign"], 3);
}

}  // namespace
}  // namespace sluice::pktgen::report_test
