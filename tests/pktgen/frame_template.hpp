#pragma once
#include "lib/base/result.hpp"
#include "tests/pktgen/one_sum.hpp"
#include "tests/pktgen/probe.hpp"
#include "tests/pktgen/profile.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::pktgen {

// Sizes are those of RFC 2544: with the FCS, which the port adds.
inline constexpr std::size_t kFcs = 4;
inline constexpr std::size_t kMinSize = 64;
inline constexpr std::size_t kVlanTag = 4;
inline constexpr std::size_t kMaxSize = 1518 + kVlanTag;
// Preamble, start of frame and the gap between two, which take their time on the wire as well.
inline constexpr std::size_t kWireOverhead = 20;

enum class Family : std::uint8_t { V4, V6 };

// Where frames go, the same for all of a run.
struct Route {
    std::array<std::uint8_t, 6> src_mac{0x02, 0, 0, 0, 0, 0x01};
    std::array<std::uint8_t, 6> dst_mac{0x02, 0, 0, 0, 0, 0x02};
    std::optional<std::uint16_t> vlan;
    Family family = Family::V4;
    bool is_back =
        false;  // addresses and ports the other way round: from the destination to each source
    std::uint32_t dst_v4 = 0xC612'0002;                               // 198.18.0.2, RFC 2544
    std::array<std::uint64_t, 2> dst_v6{0x2001'0002'0000'0000, 0x2};  // 2001:2::2, RFC 5180
};

// What of a frame differs from one to the next.
struct FrameVariation {
    std::uint64_t source = 0;  // SourceSpace::index()
    std::uint16_t sport = 0;
    std::uint32_t tcp_number = 0;
    std::uint32_t datagram = 0;  // identification of one in fragments
};

// A frame whose variable words are zero, and the sums over the rest: writing one is a copy, a few
// stores and two short additions.
class FrameTemplate {
public:
    // `size` 0: as long as its contents make it. With `probe` there is room for one at the end.
    [[nodiscard]] static Result<FrameTemplate> make(const PacketKind& kind, const Route& route,
                                                    std::size_t size, bool probe);

    // Without the FCS; as many bytes as write() writes.
    [[nodiscard]] std::size_t bytes() const noexcept { return frame_.size(); }
    [[nodiscard]] std::uint64_t wire_bits() const noexcept {
        return (frame_.size() + kFcs + kWireOverhead) * 8;
    }
    void write(const FrameVariation& variation, std::byte* to) const noexcept;
    // After write(): number and time, in the last bytes.
    void write_probed(const FrameVariation& variation, const Probe& probe,
                      std::byte* to) const noexcept;

    [[nodiscard]] const PacketKind& kind() const noexcept { return kind_; }
    [[nodiscard]] const SourceCount& sources() const noexcept { return kind_.sources; }

private:
    FrameTemplate() = default;

    // Headers and the sums over what stays, for a packet that ends at `end`.
    void finish_packet(const Route& route, std::size_t end);
    void finish_fragment(const Route& route, std::size_t size, bool probe);
    void put_datagram(const FrameVariation& variation, std::byte* to, OneSum& ip) const noexcept;
    void put_addresses(const FrameVariation& variation, std::byte* to, OneSum& ip,
                       OneSum& l4) const noexcept;
    // From the beginning of the IP header: the address that differs from frame to frame, and the
    // other.
    [[nodiscard]] std::size_t varied_at() const noexcept;
    [[nodiscard]] std::size_t fixed_at() const noexcept;
    void put_ports(const FrameVariation& variation, std::byte* to, OneSum& l4) const noexcept;
    void put_sums(const OneSum& ip, const OneSum& l4, std::byte* to) const noexcept;

    PacketKind kind_;
    Family family_ = Family::V4;
    bool is_back_ = false;
    std::vector<std::byte> frame_;
    std::size_t l3_at_ = 0;
    std::size_t l4_at_ = 0;
    std::size_t sum_at_ = 0;         // of the transport's checksum; 0: it is not in this frame
    bool is_probe_covered_ = false;  // by that checksum
    OneSum ip_sum_;
    OneSum l4_sum_;
};

}  // namespace sluice::pktgen
