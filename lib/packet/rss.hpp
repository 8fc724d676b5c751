#pragma once
#include "lib/packet/packet_headers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sluice {

// The part of a frame that decides which worker gets it: fields of its outermost IP header. All but
// five_tuple go by addresses alone, so that fragments stay with their flow; under five_tuple the
// fragments of a packet are hashed by its addresses, and may reach another worker than the rest.
enum class Rss : std::uint8_t { Source, Destination, Symmetric, FiveTuple, SourcePrefix };

// By their numbers, as sluice.yaml has them.
inline constexpr auto kRssNames = std::to_array<std::string_view>(
    {"source", "destination", "symmetric", "five_tuple", "source_prefix"});

[[nodiscard]] constexpr std::string_view name_of(Rss how) noexcept {
    return kRssNames[static_cast<std::size_t>(how)];
}

// The networks that stay together under source_prefix.
inline constexpr std::uint8_t kRssPrefixV4 = 24;
inline constexpr std::uint8_t kRssPrefixV6 = 64;

// The bytes that are hashed, in the order of the RSS specification: source, destination, source
// port, destination port. Empty for what has no IP address.
class RssBytes {
public:
    static constexpr std::size_t kMaxSize = 16 + 16 + 2 + 2;

    // `outer`: the frame parsed without looking into tunnels.
    RssBytes(const PacketHeaders& outer, Rss how) noexcept;

    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes_}.first(size_); }

private:
    void add(const IpAddress& address, std::size_t size) noexcept;
    void add_port(std::uint16_t port) noexcept;

    std::array<std::byte, kMaxSize> bytes_;
    std::size_t size_ = 0;
};

}  // namespace sluice
