#include "tests/packets/unit_texts.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// What requests cost by where their paths begin, limit by limit.
namespace sluice::path_cost_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::units;

std::string rules_over_requests(std::string_view limits) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n"
           "    per: request\n    cost: {path: {\"/v1/export\": 25, \"/v1/search\": 5}}\n    " +
           std::string{limits} + "\n";
}

struct Asking : test::Box {
    explicit Asking(std::string_view limits) : Box{rules_over_requests(limits)} {
        find_units_by(test::texts_finder());
    }
};

#define PATH(path) "http.request.uri.path=" path
#define EXPORT PATH("/v1/export/all")
#define SEARCH PATH("/v1/search")
#define OTHER PATH("/v1/searches")

const Case kCases[] = {
    {"token bucket: each request by its own path",
     "limits: [{algorithm: token_bucket, rate: 1/s, burst: 31}]",
     {{0ms, units(EXPORT), "pass", "within_limits"},
      {0ms, units(SEARCH), "pass", "within_limits"},
      {0ms, units(SEARCH), "drop", "over_limit", "r", 4000ms},
      {0ms, units(OTHER), "pass", "within_limits"},
      {0ms, units(OTHER), "drop", "over_limit", "r", 1000ms},
      {1000ms, units(OTHER), "pass", "within_limits"}}},
    {"requests of one packet: all of them or none",
     "limits: [{algorithm: token_bucket, rate: 1/s, burst: 31}]",
     {{0ms, units(EXPORT "\n" SEARCH "\n" SEARCH), "drop", "over_limit", "r", kNever},
      {0ms, units(EXPORT "\n" SEARCH "\n" OTHER), "pass", "within_limits"},
      {0ms, units(OTHER), "drop", "over_limit", "r", 1000ms}}},
    {"a packet without a request is not judged, one without a path costs what others do",
     "limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]",
     {{0ms, test::udp().src("10.0.0.1").dport(53), "pass", "unmatched"},
      {0ms, units("http.host=a"), "pass", "within_limits"},
      {0ms, units(PATH("*")), "pass", "within_limits"},
      {0ms, units("http.host=a"), "drop", "over_limit", "r", 1000ms},
      {0ms, units(SEARCH), "drop", "over_limit", "r", kNever}}},
    {"window",
     "limits: [{algorithm: fixed_window, count: 10, window: 1h, phase: first}]",
     {{0ms, units(SEARCH), "pass", "within_limits"},
      {0ms, units(OTHER), "pass", "within_limits"},
      {0ms, units(SEARCH), "drop", "over_limit", "r", 1h},
      {0ms, units(OTHER "\n" OTHER "\n" OTHER "\n" OTHER), "pass", "within_limits"},
      {0ms, units(OTHER), "drop", "over_limit", "r", 1h}}},
    {"what is refused spends what it costs",
     "rejected_spend: true\n    limits: [{algorithm: token_bucket, rate: 1/s, burst: 6}]",
     {{0ms, units(SEARCH), "pass", "within_limits"},
      {0ms, units(SEARCH), "drop", "over_limit", "r", 4000ms},
      {1000ms, units(OTHER), "pass", "within_limits"},
      {1000ms, units(OTHER), "drop", "over_limit", "r", 1000ms}}},
};

class PathCostCases : public testing::TestWithParam<Case> {};

TEST_P(PathCostCases, Table) {
    Asking box{GetParam().rules};
    expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, PathCostCases, testing::ValuesIn(kCases));

// The parser is asked for paths by the costs alone.
TEST(PathCosts, AskForThePath) {
    const Asking box{"limits: [{algorithm: token_bucket, rate: 1/s, burst: 31}]"};
    EXPECT_EQ(box.set().meter_plan.texts, TextFieldSet{TextField::HttpPath});
    EXPECT_TRUE(box.set().meter_plan.rules.front().key_texts.empty());
}

}  // namespace
}  // namespace sluice::path_cost_cases_test
