#include "control/cli/early_drop_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::early_drop_text_test {
namespace {

Json port(const Json& interface, bool early_drop, bool attached = true) {
    return {{"pair", "lab"},
            {"side", "outside"},
            {"interface", interface},
            {"early_drop", early_drop},
            {"attached", attached}};
}
Json entry(const char* network, const char* by, const Json& until = nullptr) {
    return {{"network", network}, {"at", {"eth0", "eth1"}}, {"rule", "dns"},         {"by", by},
            {"until", until},     {"applies_to", "key"},    {"rule_packets", 12'345}};
}
Json document(Json ports, Json entries, const char* state = "works") {
    return {{"early_drop",
             {{"state", state},
              {"ports", std::move(ports)},
              {"entries", std::move(entries)},
              {"more", false}}}};
}

TEST(EarlyDropText, NamesEachNetworkItsPortsAndWhy) {
    Json all = document(
        {port("eth0", true), port("eth1", true), port("eth2", false), port(nullptr, true, false)},
        {entry("10.0.0.7", "penalty_box", "2026-01-01T00:00:00Z"), entry("10.0.0.0/24", "operator"),
         entry("10.0.0.9", "exempt"), entry("10.0.0.0/8", "condition")});
    all["early_drop"]["entries"][1]["applies_to"] = "source";
    all["early_drop"]["entries"][1]["at"] = {"eth0"};
    all["early_drop"]["more"] = true;
    EXPECT_EQ(early_drop_entries(all), 4);
    EXPECT_EQ(early_drop_text(all),
              "\nearly drop, by the kernel:\n"
              "  10.0.0.7 at eth0 and eth1: rule dns, in its penalty box, until "
              "2026-01-01T00:00:00Z; 12,345 packets of the rule\n"
              "  10.0.0.0/24 at eth0: rule dns, banned by operator, all that the source sends; "
              "12,345 packets of the rule\n"
              "  10.0.0.9 at eth0 and eth1: rule dns, exempt, so left to the box\n"
              "  10.0.0.0/8 at eth0 and eth1: rule dns, by its condition; 12,345 packets of the "
              "rule\n"
              "  there are more, which are not shown\n"
              "  none at eth2\n"
              "  the program is gone from lab outside\n");
}

TEST(EarlyDropText, SaysThatThereIsNothingAndWhy) {
    EXPECT_EQ(early_drop_text(document({port("eth0", true)}, Json::array())),
              "\nearly drop, by the kernel:\n  nothing of it\n");
    EXPECT_EQ(early_drop_text(document({port("eth0", false)}, Json::array(), "no_port")),
              "\nno early drop on this box\n");
    EXPECT_EQ(early_drop_text(document({port("eth0", true)}, Json::array(), "not_judging")),
              "\nearly drop: nothing, since the box judges nothing now\n");
    EXPECT_EQ(early_drop_text(document({port("eth0", true)}, Json::array(), "box_decides")),
              "\nearly drop: nothing, since the box sees more than the kernel (tunnels, or "
              "malformed packets that pass)\n");
    // A host, a key, or no dataplane.
    EXPECT_EQ(early_drop_text({{"early_drop", nullptr}}), "");
    EXPECT_EQ(early_drop_text(Json::object()), "");
    EXPECT_EQ(early_drop_entries({{"early_drop", nullptr}}), 0);
}

}  // namespace
}  // namespace sluice::early_drop_text_test
