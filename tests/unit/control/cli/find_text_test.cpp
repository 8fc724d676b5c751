#include "control/cli/find_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::find_text_test {
namespace {

Json answer(Json findings) {
    return {{"of", "10.0.0.7"},   {"is", "address"},      {"inside", nullptr},
            {"boxes_read", true}, {"findings", findings}, {"everybody", Json::array()},
            {"next", nullptr}};
}
Json row(const char* what, const char* rule, const Json& more) {
    Json json{{"what", what}, {"rule", rule}, {"kind", "rule"}, {"mode", "enforce"}};
    json.update(more);
    return json;
}

TEST(FindText, SaysThatNothingIsKnown) {
    Json document = answer(Json::array());
    EXPECT_EQ(find_text(document), "address 10.0.0.7: nothing is known of it\n");
    document["findings"] = {
        row("counts", "web", {{"tier", 1}, {"key", "10.0.0.7"}, {"form", "ip.src"}}),
        row("counts", "flows", {{"tier", 1}, {"key", nullptr}, {"form", "ip.src|http.host"}})};
    document["everybody"] = {"a", "b"};
    EXPECT_EQ(find_text(document),
              "address 10.0.0.7: nothing is known of it\n\n"
              "rule web: would count it as 10.0.0.7, of which nothing is known yet\n"
              "rule flows: counts by ip.src|http.host; keys of it that have no name are not found\n"
              "\nrules that may meet it as they meet everybody: a, b\n");
}

TEST(FindText, NamesConditionsAndBans) {
    const Json listed{{"field", "ip.src"},     {"except", false}, {"list", "bad"},
                      {"entry", "10.0.0.0/8"}, {"line", 3},       {"others", 2},
                      {"action", "drop"}};
    Json bare = listed;
    bare["list"] = nullptr;
    bare["except"] = true;
    Json monitored = row("condition", "b", bare);
    monitored["mode"] = "monitor";
    Json budget = row("condition", "bypass.1", bare);
    budget["kind"] = "bypass";
    Json document = answer({row("condition", "a", listed), monitored, budget,
                            row("ban", "a",
                                {{"key", "10.0.0.0/16"},
                                 {"tier", 1},
                                 {"source", "policy"},
                                 {"until", nullptr},
                                 {"reason", "abuse"}})});
    document["next"] = "1:a:k:1:x";
    EXPECT_EQ(
        find_text(document),
        "address 10.0.0.7: 4 findings up to here, and more behind them\n\n"
        "rule a: its condition names it as ip.src, in $bad by 10.0.0.0/8 (line 3) and 2 more: "
        "drop\n"
        "rule b (monitor): its condition excepts it as ip.src: drop\n"
        "bypass.1: its condition excepts it as ip.src: drop\n"
        "rule a: 10.0.0.0/16 is banned by policy, because: abuse\n"
        "more: --after '1:a:k:1:x'\n");
}

TEST(FindText, NamesOverridesOfNetworks) {
    const Json line{{"key", "172.16.0.0/12"},      {"tier", 1}, {"says", "numbers"},
                    {"source", "override file"},   {"line", 6}, {"until", nullptr},
                    {"reason", "the other branch"}};
    Json exempt = line;
    exempt["says"] = "exempt";
    exempt["until"] = "2031-01-01T00:00:00Z";
    exempt["reason"] = "";
    EXPECT_EQ(
        find_text(answer({row("override", "a", line), row("override", "b", exempt)})),
        "address 10.0.0.7: 2 findings\n\n"
        "rule a: 172.16.0.0/12 has other numbers by line 6 of the override file, because: the "
        "other branch\n"
        "rule b: 172.16.0.0/12 is exempt by line 6 of the override file until "
        "2031-01-01T00:00:00Z\n");
}

TEST(FindText, SaysWhatIsLeftOut) {
    Json document = answer(Json::array());
    document["lists_read"] = true;
    document["cut"] = false;
    EXPECT_EQ(find_text(document), "address 10.0.0.7: nothing is known of it\n");
    document["lists_read"] = false;
    document["cut"] = true;
    document["next"] = "1:a:k:1:it's";
    EXPECT_EQ(find_text(document),
              "address 10.0.0.7: nothing is known of it\n\n"
              "what lists name is told to root and to who applied the rules alone, and left out\n\n"
              "not all of it is here: there are more keys, or lists, than are looked into; "
              "a narrower network, or a single key, is found all the same\n"
              "more: --after '1:a:k:1:it'\\''s'\n");
}

TEST(FindText, TellsRulesOfOneSideAndOfListsThatWereNotRead) {
    Json document = answer(Json::array());
    document["everybody"] = {"all", "blocked"};
    document["everybody_as"] = {{"blocked", "ip.dst"}};
    document["unread"] = {"listed"};
    document["services"] = {{{"service", "shop"},
                             {"mode", "enforce"},
                             {"field", "ip.dst"},
                             {"except", false},
                             {"list", nullptr},
                             {"entry", nullptr},
                             {"line", nullptr},
                             {"others", 0}}};
    EXPECT_EQ(find_text(document),
              "address 10.0.0.7: nothing is known of it\n\n"
              "service shop: its condition names it as ip.dst\n\n"
              "rules that may meet it as they meet everybody: all, blocked (as ip.dst)\n\n"
              "rules whose conditions read lists, of which it may be: listed\n");
}

TEST(FindText, PointsToTheAddressInside) {
    Json document = answer(Json::array());
    document["of"] = "::ffff:10.0.0.7";
    document["inside"] = "10.0.0.7";
    EXPECT_EQ(find_text(document),
              "address ::ffff:10.0.0.7: nothing is known of it\n"
              "packets of IPv4 have the address inside it: sluicectl find 10.0.0.7\n");
}

TEST(FindText, ShowsKeysAsKeyDoes) {
    const Json key = row("key", "web",
                         {{"key", "10.0.0.7"},
                          {"tier", 1},
                          {"action", "show"},
                          {"exempt", true},
                          {"banned", false},
                          {"set", Json::array()},
                          {"limits", Json::array()},
                          {"unanswered", Json::array()}});
    const std::string text = find_text(answer({key}));
    EXPECT_TRUE(
        text.starts_with("address 10.0.0.7: 1 finding\n\n"
                         "rule web, key 10.0.0.7: exempt\n"))
        << text;
}

// Names of others, on a terminal.
TEST(FindText, HidesNothing) {
    const std::string text = find_text(
        answer({row("counts", "a\x1b[2J", {{"tier", 1}, {"key", "x\ny"}, {"form", "ip.src"}})}));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("x\\ny"), std::string::npos) << text;
}

}  // namespace
}  // namespace sluice::find_text_test
