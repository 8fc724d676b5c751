#include "lib/l7/quic/initial_keys.hpp"

#include "lib/l7/quic/quic_version.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/rfc_packets.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::initial_keys_test {
namespace {

using test::from_hex;

struct Row {
    std::uint32_t version;
    QuicSide side;
    std::string_view key;
    std::string_view iv;
    std::string_view header;
};

// RFC 9001, A.1, and RFC 9369, A.1.
TEST(InitialKeys, AreThoseOfTheStandards) {
    const Row rows[] = {
        {kQuicV1, QuicSide::Client, "1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c",
         "9f50449e04a0e810283a1e9933adedd2"},
        {kQuicV1, QuicSide::Server, "cf3a5331653c364c88f0f379b6067e37", "0ac1493ca1905853b0bba03e",
         "c206b8d9b9f0f37644430b490eeaa314"},
        {kQuicV2, QuicSide::Client, "8b1a0bc121284290a29e0971b5cd045d", "91f73e2351d8fa91660e909f",
         "45b95e15235d6f45a6b19cbcb0294ba9"},
        {kQuicV2, QuicSide::Server, "82db637861d55e1d011f19ea71d5d2a7", "dd13c276499c0249d3310652",
         "edf6d05c83121201b436e16877593c3a"},
    };
    for (const Row& row : rows) {
        const InitialKeys keys =
            derive_initial_keys(row.version, from_hex(test::kRfcDcid), row.side);
        EXPECT_TRUE(std::ranges::equal(keys.key, from_hex(row.key)));
        EXPECT_TRUE(std::ranges::equal(keys.iv, from_hex(row.iv)));
        EXPECT_TRUE(std::ranges::equal(keys.header, from_hex(row.header)));
    }
}

}  // namespace
}  // namespace sluice::initial_keys_test
