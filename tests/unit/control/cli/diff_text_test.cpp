#include "control/cli/diff_text.hpp"

#include <gtest/gtest.h>

namespace sluice::diff_text_test {
namespace {

Json nothing() {
    return {{"from", "1"},
            {"to", "1"},
            {"added", Json::array()},
            {"removed", Json::array()},
            {"changed", Json::array()},
            {"reordered", false},
            {"unchanged", 3},
            {"services",
             {{"added", Json::array()},
              {"removed", Json::array()},
              {"changed", Json::array()},
              {"reordered", false},
              {"unchanged", 1}}}};
}

Json limit(const char* change, const Json& because = Json::array()) {
    return {
        {"name", "1"}, {"change", change}, {"from", "OLD"}, {"to", "NEW"}, {"because", because}};
}

TEST(DiffText, NothingChanges) {
    EXPECT_EQ(diff_text(nothing()),
              "0 rules added, 0 removed, 0 changed, 3 as they are\n"
              "0 services added, 0 removed, 0 changed, 1 as they are\n");
    EXPECT_FALSE(differs(nothing()));
}

TEST(DiffText, SetsWithoutServicesSayNothingOfThem) {
    Json diff = nothing();
    diff["services"]["unchanged"] = 0;
    EXPECT_EQ(diff_text(diff), "0 rules added, 0 removed, 0 changed, 3 as they are\n");
}

TEST(DiffText, ListsAlone) {
    Json diff = nothing();
    diff["to"] = "2";
    EXPECT_EQ(diff_text(diff),
              "lists, databases, overrides or settings of all rules are others\n\n"
              "0 rules added, 0 removed, 0 changed, 3 as they are\n"
              "0 services added, 0 removed, 0 changed, 1 as they are\n");
    EXPECT_TRUE(differs(diff));
    diff = nothing();
    diff["reordered"] = true;
    EXPECT_TRUE(differs(diff));
}

TEST(DiffText, KeysThatOweMoreAreCounted) {
    const auto text_of = [](const Json& owing) {
        Json diff = nothing();
        Json changed = limit("changed");
        changed["owing"] = owing;
        diff["changed"] = {{{"id", "r"}, {"settings", Json::array()}, {"limits", {changed}}}};
        return diff_text(diff);
    };
    const std::string head = "~ r\n    limit 1: OLD -> NEW\n      what was used carries over\n";
    const std::string advice =
        "      `apply --forgive` lets each owe no more than a whole burst or count\n";
    EXPECT_TRUE(text_of(nullptr).starts_with(head + "\n"));
    EXPECT_TRUE(text_of({{"keys", 0}, {"seconds", 0.0}, {"whole", true}}).starts_with(head + "\n"));
    EXPECT_NE(text_of({{"keys", 1}, {"seconds", 30.0}, {"whole", true}})
                  .find(head + "      1 key owes more than that allows: not admitted for up to 30"),
              std::string::npos);
    const std::string many = text_of({{"keys", 1200}, {"seconds", 499.1}, {"whole", false}});
    EXPECT_NE(
        many.find("at least 1,200 keys owe more than that allows: not admitted for up to 8m19s"),
        std::string::npos)
        << many;
    EXPECT_NE(many.find(advice), std::string::npos);
}

TEST(DiffText, SaysWhereNobodyKnowsWhetherKeysOweMore) {
    const std::string unknown =
        "the dataplane could not be asked: how many keys owe more than their new numbers allow is "
        "not known\n";
    Json diff = nothing();
    Json changed = limit("changed");
    changed["owing"] = nullptr;
    diff["changed"] = {{{"id", "r"}, {"settings", Json::array()}, {"limits", {changed}}}};
    diff["owing_known"] = true;
    EXPECT_EQ(diff_text(diff).find(unknown), std::string::npos);
    diff["owing_known"] = false;
    EXPECT_NE(diff_text(diff).find("what was used carries over\n" + unknown), std::string::npos)
        << diff_text(diff);
}

TEST(DiffText, Everything) {
    Json diff = nothing();
    diff["to"] = "2";
    diff["added"] = {"new"};
    diff["removed"] = {"old"};
    diff["reordered"] = true;
    diff["changed"] = Json::array(
        {{{"id", "a"},
          {"settings", {{{"what", "when"}, {"from", ""}, {"to", "ip.proto eq 6\n and dir"}}}},
          {"limits",
           {limit("changed"), limit("reset", {"key", "window"}), limit("added"),
            limit("removed")}}}});
    EXPECT_EQ(diff_text(diff),
              "- old\n+ new\n~ a\n"
              "    when: (none) -> ip.proto eq 6  and dir\n"
              "    limit 1: OLD -> NEW\n      what was used carries over\n"
              "    limit 1: OLD -> NEW\n"
              "      RESET: its buckets start anew, because of another `key`, `window`\n"
              "    limit 1: added, NEW\n    limit 1: removed, OLD\n"
              "the rules come in another order\n"
              "\n1 rule added, 1 removed, 1 changed, 3 as they are\n"
              "0 services added, 0 removed, 0 changed, 1 as they are\n");
}

TEST(DiffText, Services) {
    Json diff = nothing();
    diff["to"] = "2";
    Json& services = diff["services"];
    services["added"] = {"new"};
    services["removed"] = {"old"};
    services["reordered"] = true;
    services["changed"] =
        Json::array({{{"id", "web"},
                      {"settings", {{{"what", "mode"}, {"from", "monitor"}, {"to", "enforce"}}}}}});
    EXPECT_EQ(diff_text(diff),
              "- service old\n+ service new\n~ service web\n    mode: monitor -> enforce\n"
              "the services come in another order, and the first that matches decides\n"
              "\n0 rules added, 0 removed, 0 changed, 3 as they are\n"
              "1 service added, 1 removed, 1 changed, 1 as they are\n");
    EXPECT_TRUE(differs(diff));
}

}  // namespace
}  // namespace sluice::diff_text_test
