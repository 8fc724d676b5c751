#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/rules/group.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A packet of a watched key on its way from the worker that judged it: the key's bytes, since
// tables hold fingerprints only, and what packets of it look like.
struct HeatPacketRecord {
    // Texts of the packet's unit that are kept, as far as rules read them, and how much of each.
    static constexpr auto kTexts = std::to_array<TextField>(
        {TextField::HttpMethod, TextField::HttpHost, TextField::HttpPath, TextField::HttpUserAgent,
         TextField::TlsSni, TextField::QuicSni, TextField::DnsQname});
    static constexpr std::size_t kMostOfText = 64;

    std::uint64_t epoch;    // its number
    std::uint64_t load;     // of the rule set it was judged by
    std::uint32_t limit;    // index in its MeterPlan::limits
    std::uint64_t digest;   // heat_digest()
    PacketHeaders headers;  // without a unit
    std::uint16_t key_size;
    std::array<std::byte, KeyBytes::kMaxSize> key;
    std::array<std::uint8_t, kTexts.size()> text_sizes;  // 0: it has none
    std::array<std::array<std::byte, kMostOfText>, kTexts.size()> texts;
};

}  // namespace sluice
