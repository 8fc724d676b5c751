#include "control/cli/live_keys_text.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace sluice::live_keys_text_test {
namespace {

Json live(const Json& key, double left_s) {
    return {{"key", key},    {"digest", "00000000000ab1"},
            {"tier", 1},     {"limit", "1"},
            {"lcore", 1},    {"shared", false},
            {"level", 0},    {"remaining", 1'200},
            {"most", 2'000}, {"left_s", left_s}};
}

TEST(LiveText, NamesKeysWhereTheyAreKnown) {
    Json shared = live("10.0.0.3", 5'676);
    shared["shared"] = true;
    Json own = live("", 0.25);
    own["most"] = nullptr;
    own["remaining"] = nullptr;
    Json carried = live("10.0.0.4", 86'040);
    carried["carried"] = true;
    carried["lcore"] = nullptr;
    carried["banned"] = "penalty_box";
    shared["banned"] = "operator";
    own["banned"] = nullptr;
    EXPECT_EQ(
        live_text({{"rule", "r"},
                   {"live", 1'234},
                   {"keys", {live("10.0.0.1", 1.2), live(nullptr, 59), shared, own, carried}},
                   {"next", nullptr}}),
        "rule r: 5 live buckets\n\n"
        "KEY              LIMIT             LEFT     OF  FRESH IN         LCORE  BANNED\n"
        "10.0.0.1         1                1,200  2,000        1s             1\n"
        "#00000000000ab1  1                1,200  2,000       59s             1\n"
        "10.0.0.3         1                1,200  2,000    94m36s        shared  operator\n"
        "(all)            1      its own numbers            250ms             1\n"
        "10.0.0.4         1                1,200  2,000    23h54m  carried over  penalty box\n");
}

// Its rows are counted: entries of several workers are one row, and some have become fresh.
TEST(LiveText, CountsWhatItLists) {
    Json document{{"rule", "r"}, {"live", 2}, {"keys", {live("10.0.0.1", 1.2)}}, {"next", nullptr}};
    EXPECT_TRUE(live_text(document).starts_with("rule r: 1 live bucket\n"));
    const std::string_view part = "rule r: 1 live bucket here, of about 2 in all tables\n";
    EXPECT_TRUE(live_text(document, false).starts_with(part));
    document["next"] = "1:77";
    EXPECT_TRUE(live_text(document).starts_with(part));
}

TEST(LiveText, SaysWhereTheListGoesOn) {
    const std::string text =
        live_text({{"rule", "r"}, {"live", 0}, {"keys", Json::array()}, {"next", "1:77"}});
    EXPECT_TRUE(text.ends_with("more: --after '1:77'\n")) << text;
}

TEST(BansText, SaysWhoHasMadeThem) {
    const Json set{{"rule", "r"},          {"key", "10.0.0.1"}, {"tier", 1},
                   {"source", "operator"}, {"left_s", nullptr}, {"until", nullptr},
                   {"reason", "abuse"}};
    Json box = set;
    box["key"] = nullptr;
    box["digest"] = "00000000000ab1";
    box["level"] = 1;
    box["source"] = "penalty_box";
    box["left_s"] = 90;
    box["reason"] = "";
    EXPECT_EQ(bans_text({{"bans", {set, box}}, {"next", nullptr}}),
              "RULE  KEY                    SOURCE           LEFT  REASON\n"
              "r     10.0.0.1               operator     for good  abuse\n"
              "r     wider #00000000000ab1  penalty_box     1m30s\n");
    box["inactive"] = "not before 2026-11-30T07:06:00Z";
    EXPECT_TRUE(
        bans_text({{"bans", {box}}, {"next", nullptr}})
            .ends_with("r is active not before 2026-11-30T07:06:00Z: nothing is dropped for "
                       "its bans\n"));
    EXPECT_EQ(bans_text({{"bans", Json::array()}, {"next", nullptr}}), "nobody is banned\n");
    // Who is in a penalty box is not known.
    EXPECT_EQ(bans_text({{"bans", Json::array()}, {"boxes_read", false}, {"next", nullptr}}), "");
}

}  // namespace
}  // namespace sluice::live_keys_text_test
