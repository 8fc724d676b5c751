#include "control/cli/key_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sluice::key_text_test {
namespace {

Json bucket(std::int64_t wait_ns, std::int64_t fresh_ns) {
    return {{"lcore", 1},          {"bucket", true},     {"before", 0},          {"remaining", 0},
            {"most", 500},         {"wait_ns", wait_ns}, {"fresh_ns", fresh_ns}, {"step", 0},
            {"overridden", false}, {"carried", false},   {"given_wider", 0}};
}
Json shown(const Json& worker) {
    return {{"rule", "r"},
            {"key", "192.0.2.7"},
            {"action", "show"},
            {"exempt", false},
            {"banned", false},
            {"set", Json::array()},
            {"limits", {{{"name", "1"}, {"text", "per day"}, {"workers", {worker}}}}},
            {"unanswered", Json::array()}};
}
const Json kNetworks = {{{"key", "192.0.2.0/24"},
                         {"source", "operator"},
                         {"until", nullptr},
                         {"left_s", nullptr},
                         {"reason", "abuse"},
                         {"ends_with", "key unban r 192.0.2.0/24"}}};

constexpr const char* kHostile = "a\033[2J\nrule evil, key 1.2.3.4\t\u009B\u202E";
constexpr const char* kShownHostile = "a\\u001b[2J\\nrule evil, key 1.2.3.4\\t\\u009b\\u202e";

// Reasons are others' words: none acts on the terminal or fakes a line.
TEST(KeyText, HiddenCharactersOfReasonsAreShownEscaped) {
    const Json set = {
        {{"set", "banned"}, {"key", "k"}, {"tier", 1}, {"until", nullptr}, {"reason", kHostile}}};
    Json document = shown(bucket(0, 0));
    document["set"] = set;
    document["file_ban"] = {{"source", "policy"},
                            {"until", nullptr},
                            {"reason", kHostile},
                            {"ends_with", "line 3 taken out of the rule's override file"}};
    document["networks"] = kNetworks;
    document["networks"][0]["reason"] = kHostile;
    const std::string because = std::string{", because: "} + kShownHostile + "\n";
    for (const std::string& line : {"set: banned" + because, "banned by policy" + because,
                                    "within 192.0.2.0/24, banned by operator" + because}) {
        EXPECT_NE(key_text(document).find(line), std::string::npos) << key_text(document);
    }
    EXPECT_NE(setting_text(document).find("set: banned" + because), std::string::npos);
    const std::string list = key_list_text({{"rule", "r"}, {"dynamic", nullptr}, {"keys", set}});
    EXPECT_TRUE(list.ends_with(std::string{"  for good  "} + kShownHostile + "\n")) << list;
    EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 3) << list;
}

// The row of a network or range that a key goes by, beside its buckets and its exemption.
TEST(KeyText, SaysWhichRowGivesTheNumbers) {
    Json own = bucket(0, 0);
    own["overridden"] = true;
    const Json row = {
        {"key", "10.0.0.0/8"}, {"source", "override file"}, {"line", 2}, {"reason", "contract 17"}};
    EXPECT_NE(key_text(shown(own)).find("its own, other numbers for this key"), std::string::npos);
    own["row"] = row;
    EXPECT_NE(key_text(shown(own))
                  .find("its own, the numbers of 10.0.0.0/8, line 2 of the override file"),
              std::string::npos);
    Json document = shown(bucket(0, 0));
    document["exempt"] = true;
    document["exempt_by"] = row;
    EXPECT_NE(key_text(document).find(
                  "exempt by 10.0.0.0/8, line 2 of the override file, because: contract 17\n"),
              std::string::npos);
}

// The key's own rows, with their ends and reasons, and what a network's numbers are for.
TEST(KeyText, NamesOwnRowsAndTheReasonOfNumbers) {
    Json own = bucket(0, 0);
    own["overridden"] = true;
    Json document = shown(own);
    document["rows"] = {{{"source", "override file"},
                         {"line", 4},
                         {"says", "exempt"},
                         {"limit", nullptr},
                         {"until", "2031-01-01T00:00:00Z"},
                         {"reason", "monitoring"}},
                        {{"source", "rule file"},
                         {"line", 9},
                         {"says", "numbers"},
                         {"limit", "1"},
                         {"until", nullptr},
                         {"reason", ""}}};
    EXPECT_NE(key_text(document).find("exempt by line 4 of the override file until "
                                      "2031-01-01T00:00:00Z, because: monitoring\n"
                                      "numbers of 1 by line 9 of the rule file\n"),
              std::string::npos)
        << key_text(document);
    own["row"] = {{"key", "10.0.0.0/8"},
                  {"source", "override file"},
                  {"line", 2},
                  {"until", nullptr},
                  {"reason", "the branch"}};
    EXPECT_NE(
        key_text(shown(own))
            .find("numbers by 10.0.0.0/8, line 2 of the override file, because: the branch\n"),
        std::string::npos);
}

TEST(KeyText, SaysWhenNothingIsDroppedForABan) {
    Json document = shown(bucket(0, 0));
    document["banned"] = true;
    document["inactive"] = "not before 2026-11-30T07:06:00Z";
    EXPECT_NE(key_text(document).find("the rule is active not before 2026-11-30T07:06:00Z: "
                                      "nothing is dropped for its bans\n"),
              std::string::npos);
}

TEST(SettingText, SaysInAClusterThatOtherBoxesGoOn) {
    Json document = {{"rule", "r"}, {"key", "192.0.2.7"}, {"tier", 1}, {"set", Json::array()}};
    document["alone_in_cluster"] = nullptr;
    EXPECT_EQ(setting_text(document).find("on this box alone"), std::string::npos);
    document["alone_in_cluster"] = "edge";
    EXPECT_NE(setting_text(document).find(
                  "on this box alone: the other boxes of the cluster edge go on as before\n"),
              std::string::npos);
}

TEST(SettingText, SaysThatABanGoesBeforeExempt) {
    const auto set = [](const char* what) {
        return Json{{"set", what}, {"key", "k"}, {"tier", 1}, {"until", nullptr}, {"reason", ""}};
    };
    const Json document{
        {"rule", "r"}, {"key", "192.0.2.7"}, {"set", {set("banned"), set("exempt")}}};
    EXPECT_NE(setting_text(document).find(
                  "it is banned all the same: `key unban r 192.0.2.7` ends that\n"),
              std::string::npos);
}

TEST(SettingText, SaysThatAnAddressStandsForItsKey) {
    const Json document{
        {"rule", "r"}, {"key", "10.0.0.0/24"}, {"asked", "10.0.0.9"}, {"set", Json::array()}};
    EXPECT_TRUE(setting_text(document).starts_with(
        "rule r, key 10.0.0.0/24\n"
        "10.0.0.9 stands for its whole key: this is set for all of 10.0.0.0/24\n"));
}

// The words of `keys`.
TEST(KeyText, SaysInHowLongTheKeyIsFresh) {
    EXPECT_EQ(key_text(shown(bucket(86'040'000'000'000, 172'440'000'000'000))),
              "rule r, key 192.0.2.7\n\n"
              "LIMIT  NUMBERS  LCORE  LEFT   OF    WAIT  FRESH IN  BUCKET\n"
              "1      per day      1     0  500  23h54m    47h54m  its own\n");
    EXPECT_NE(key_text(shown(bucket(3'599'600'000'000, 3'600'000'000'000)))
                  .find("  500   60m       60m  its own\n"),
              std::string::npos);
    EXPECT_NE(key_text(shown(bucket(59'900'000'000, 60'000'000'000))).find("  59.9 s"),
              std::string::npos);
}

TEST(KeyText, SaysThatABucketWasCarriedOver) {
    Json worker = bucket(1'500'000'000, 59'000'000'000);
    worker["bucket"] = false;
    worker["carried"] = true;
    EXPECT_EQ(key_text(shown(worker)),
              "rule r, key 192.0.2.7\n\n"
              "LIMIT  NUMBERS  LCORE  LEFT   OF   WAIT  FRESH IN  BUCKET\n"
              "1      per day      1     0  500  1.5 s       59s  "
              "carried over, taken up with its next packet\n");
}

TEST(KeyText, NamesTheNetworkThatIsBanned) {
    Json document = shown(bucket(0, 0));
    document["networks"] = kNetworks;
    document["banned"] = true;
    EXPECT_TRUE(key_text(document).starts_with(
        "rule r, key 192.0.2.7: banned\n"
        "within 192.0.2.0/24, banned by operator, because: abuse\n"
        "what ends that: key unban r 192.0.2.0/24; "
        "`key set r 192.0.2.7 --exempt` lets this key alone through\n"))
        << key_text(document);
    document["banned"] = false;
    document["exempt"] = true;
    EXPECT_TRUE(key_text(document).starts_with(
        "rule r, key 192.0.2.7: exempt\n"
        "within 192.0.2.0/24, banned by operator, because: abuse\n\n"))
        << key_text(document);
}

TEST(SettingText, SaysThatTheNetworkOfALiftedKeyIsBanned) {
    Json document{{"rule", "r"},
                  {"key", "192.0.2.7"},
                  {"set", Json::array()},
                  {"lifted", 1},
                  {"unanswered_workers", 0}};
    document["networks"] = kNetworks;
    const std::string text = setting_text(document);
    EXPECT_TRUE(
        text.starts_with("rule r, key 192.0.2.7: banned\nban lifted on 1 worker\n"
                         "within 192.0.2.0/24, banned by operator, because: abuse\n"))
        << text;
}

TEST(SettingText, SaysOfAKeyThatIsExemptNothingOfALiftedBan) {
    Json document{{"rule", "r"},    {"key", "192.0.2.7"}, {"set", Json::array()},
                  {"exempt", true}, {"lifted", 0},        {"unanswered_workers", 0}};
    document["networks"] = kNetworks;
    EXPECT_EQ(setting_text(document),
              "rule r, key 192.0.2.7: exempt\n"
              "within 192.0.2.0/24, banned by operator, because: abuse\n"
              "nothing is set; an override exempts it\n");
}

}  // namespace
}  // namespace sluice::key_text_test
