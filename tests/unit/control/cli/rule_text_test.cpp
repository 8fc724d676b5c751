#include "control/cli/rule_text.hpp"

#include <gtest/gtest.h>

namespace sluice::rule_text_test {
namespace {

TEST(SourceText, IsTheTextOfOneFileAndTellsSeveralApart) {
    Json files{{"files", Json::array({{{"name", "a.yaml"}, {"text", "x: 1"}}})}};
    EXPECT_EQ(source_text(files), "x: 1");
    files["files"].push_back({{"name", "b.yaml"}, {"text", "y: 1\n"}});
    EXPECT_EQ(source_text(files), "==> a.yaml <==\nx: 1\n==> b.yaml <==\ny: 1\n");
}

Json rule() {
    return Json::parse(R"({"id":"a","kind":"rule","description":"why","mode":"monitor",
        "file_mode":"enforce","ends":"2030-01-01T00:00:00Z","ended":false,
        "first_applied":"2029-01-01T00:00:00Z","line":3,"when":"","key":"ip.src","action":"drop",
        "limits":[{"name":"1","key":"ip.src","text":"token_bucket 1/s","scope":"local",
                   "bound":"2 packets"}],
        "settings":{"cost":"1","empty":""},"lists":[{"name":"l","type":"cidr","file":"l.txt",
        "known":false,"entries":0}],"source":{"file":"r.yaml","line":3,"last_line":4,
        "text":"  - id: a\n    key: []"},"keys_set":[{"key":"k","set":"exempt","until":null,
        "reason":"ours"}]})");
}

TEST(WholeRuleText, HasAllOfIt) {
    const std::string text = whole_rule_text(rule());
    for (const char* part :
         {"a: monitor (file: enforce) until 2030-01-01T00:00:00Z\nwhy\n",
          "first applied 2029-01-01T00:00:00Z\n", "from r.yaml, lines 3 to 4:\n\n  - id: a\n",
          "    key: []\n\nLIMIT", "limit 1 admits at most 2 packets\n", "on exceed: drop\n",
          "cost: 1\n", "unknown", "exempt"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
    EXPECT_EQ(text.find("empty"), std::string::npos);
    Json other = rule();
    other["source"] = nullptr;
    EXPECT_NE(whole_rule_text(other).find("in brackets"), std::string::npos);
}

}  // namespace
}  // namespace sluice::rule_text_test
