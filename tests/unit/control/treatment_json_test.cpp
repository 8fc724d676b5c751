#include "control/treatment_json.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

// Every member is another than its default.
PacketTreatment unusual() {
    using std::chrono::seconds;
    return {
        .malformed = MalformedPolicy::Pass,
        .tunnels = {.gre = true, .vxlan = true, .ipip = true, .others = {{{9, UdpTunnel::Gtpu}}}},
        .units = {
            .connections = {.max = 1'000'000,
                            .head_bytes = 4096,
                            .timeout = seconds{3},
                            .when_full = FullConnections::Drop},
            .fragments = {.policy = FragmentPolicy::Judge, .table = 2048, .timeout = seconds{7}},
            .on_ambiguous = OnAmbiguous::Both,
            .quic_initials_percent = 35}};
}

TEST(TreatmentJson, SaysAllOfIt) {
    for (const PacketTreatment& treatment : {PacketTreatment{}, unusual()}) {
        const std::optional<PacketTreatment> read = treatment_from(treatment_json(treatment));
        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(treatment_json(*read), treatment_json(treatment));
    }
    const Json usual = treatment_json({});
    const Json other = treatment_json(unusual());
    for (const auto& [name, value] : other.items()) {
        EXPECT_NE(value, usual.at(name)) << name;
    }
    const std::optional<PacketTreatment> read = treatment_from(treatment_json(unusual()));
    EXPECT_EQ(read->malformed, MalformedPolicy::Pass);
    EXPECT_EQ(read->tunnels, unusual().tunnels);
    EXPECT_EQ(read->units.on_ambiguous, OnAmbiguous::Both);
    EXPECT_EQ(read->units.connections.when_full, FullConnections::Drop);
    EXPECT_EQ(read->units.connections.timeout, std::chrono::seconds{3});
    EXPECT_EQ(read->units.fragments.policy, FragmentPolicy::Judge);
    EXPECT_EQ(read->units.quic_initials_percent, 35U);
}

TEST(TreatmentJson, OfABoxThatIsNotKnownIsNone) {
    EXPECT_FALSE(treatment_from(Json{}).has_value());
}

}  // namespace
}  // namespace sluice
