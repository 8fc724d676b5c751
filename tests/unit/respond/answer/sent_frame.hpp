#pragma once
#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <string>

// Frames that the box received, and what a receiver reads of one that it made: with the parser of
// received frames, and checksums summed up the slow way.
namespace sluice::test {

[[nodiscard]] inline PacketHeaders headers_of(const Octets& frame, Tunnels tunnels = {}) {
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, tunnels, headers);
    return headers;
}

// TCP options of one connection: NOP, NOP, timestamps.
[[nodiscard]] inline Octets timestamp_options(std::uint32_t value, std::uint32_t echo) {
    Octets options;
    put32(options, 0x0101'080A);
    put32(options, value);
    put32(options, echo);
    return options;
}

class SentFrame {
public:
    explicit SentFrame(Octets bytes) : bytes_{std::move(bytes)}, headers_{headers_of(bytes_)} {
        EXPECT_EQ(headers_.parsed, Parsed::Ok);
        check_ip();
        check_transport();
    }

    [[nodiscard]] const PacketHeaders& headers() const { return headers_; }
    [[nodiscard]] const Octets& bytes() const { return bytes_; }
    [[nodiscard]] std::uint32_t seq() const { return load_be32(bytes_, headers_.l4_at + 4U); }
    [[nodiscard]] std::uint32_t ack() const { return load_be32(bytes_, headers_.l4_at + 8U); }
    [[nodiscard]] std::uint16_t window() const { return load_be16(bytes_, headers_.l4_at + 14U); }
    [[nodiscard]] Octets options() const {
        return part(headers_.l4_at + 20U, headers_.payload_at - headers_.l4_at - 20U);
    }
    [[nodiscard]] Octets payload() const { return part(headers_.payload_at, headers_.payload_len); }
    [[nodiscard]] std::string text() const {
        const Octets bytes = payload();
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    // As received frames begin, with the ends swapped.
    [[nodiscard]] bool swaps_macs_of(const Octets& received) const {
        return std::equal(bytes_.begin(), bytes_.begin() + 6, received.begin() + 6) &&
               std::equal(bytes_.begin() + 6, bytes_.begin() + 12, received.begin());
    }
    [[nodiscard]] Octets part(std::size_t at, std::size_t size) const {
        (void)bytes_.at(at + size - 1);
        return {bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                bytes_.begin() + static_cast<std::ptrdiff_t>(at + size)};
    }

private:
    void check_ip() const {
        EXPECT_EQ(headers_.ttl, 64);
        EXPECT_EQ(headers_.dscp, 0);
        EXPECT_EQ(headers_.frag, Fragment::None);
        const std::size_t at = headers_.l3_at;
        if (headers_.ip_version == IpVersion::V4) {
            EXPECT_EQ(headers_.l4_at, at + 20);
            EXPECT_EQ(checksum_of(bytes_, at, 20), 0U);
            EXPECT_EQ(load_be32(bytes_, at + 4), 0x0000'4000U);  // identification 0, DF
        } else {
            EXPECT_EQ(headers_.l4_at, at + 40);
            EXPECT_EQ(load_be32(bytes_, at), 0x6000'0000U);
        }
        const std::size_t end = at + headers_.ip_len;
        EXPECT_EQ(bytes_.size(), std::max<std::size_t>(end, 60));
        for (std::size_t i = end; i < bytes_.size(); ++i) {
            EXPECT_EQ(bytes_[i], std::byte{0}) << i;
        }
    }
    // RFC 9293, 3.1; RFC 8200, 8.1. A UDP checksum of zero says that there is none.
    void check_transport() const {
        const bool is_v4 = headers_.ip_version == IpVersion::V4;
        const std::size_t size = headers_.ip_len - (is_v4 ? 20U : 40U);
        Octets covered = is_v4 ? part(headers_.l3_at + 12U, 8) : part(headers_.l3_at + 8U, 32);
        put32(covered, static_cast<std::uint32_t>(size));
        put32(covered, headers_.proto);
        put(covered, part(headers_.l4_at, size));
        EXPECT_EQ(checksum_of(covered, 0, covered.size()), 0U);
        if (headers_.proto == 17) {
            EXPECT_NE(load_be16(bytes_, headers_.l4_at + 6U), 0U);
            EXPECT_EQ(load_be16(bytes_, headers_.l4_at + 4U), size);
        }
    }

    Octets bytes_;
    PacketHeaders headers_;
};

}  // namespace sluice::test
