#include "lib/l7/quic/initial_sealer.hpp"

#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/rfc_packets.hpp"
#include "tests/unit/l7/quic/server_initial.hpp"

#include <gtest/gtest.h>

namespace sluice::initial_sealer_test {
namespace {

using test::from_hex;
using test::Octets;
using test::put;

Octets in_clear(std::string_view header) {
    Octets packet = from_hex(header);
    put(packet, from_hex(test::kRfcServerFrames));
    packet.resize(packet.size() + 16);
    return packet;
}

TEST(InitialSealer, SealsAsTheStandardsDo) {
    InitialSealer sealer{*InitialSealer::make()};
    const Octets dcid = from_hex(test::kRfcDcid);
    for (int round = 0; round < 2; ++round) {  // keyed anew each time
        for (const auto& [version, header, sealed] :
             {std::tuple{kQuicV1, test::kRfc9001ServerHeader, test::kRfc9001ServerInitial},
              std::tuple{kQuicV2, test::kRfc9369ServerHeader, test::kRfc9369ServerInitial}}) {
            Octets packet = in_clear(header);
            ASSERT_TRUE(sealer.seal(
                {.version = version, .client_dcid = dcid, .packet = packet, .number_at = 18}));
            EXPECT_EQ(packet, from_hex(sealed));
            EXPECT_EQ(test::open_server_initial(packet, dcid, 18),
                      from_hex(test::kRfcServerFrames));
        }
    }
}

TEST(InitialSealer, NobodyElsesKeysOpenIt) {
    InitialSealer sealer{*InitialSealer::make()};
    const Octets dcid = from_hex(test::kRfcDcid);
    Octets packet = in_clear(test::kRfc9001ServerHeader);
    ASSERT_TRUE(sealer.seal(
        {.version = kQuicV1, .client_dcid = Octets(8), .packet = packet, .number_at = 18}));
    EXPECT_FALSE(test::open_server_initial(packet, dcid, 18));
    EXPECT_TRUE(test::open_server_initial(packet, Octets(8), 18));
}

}  // namespace
}  // namespace sluice::initial_sealer_test
