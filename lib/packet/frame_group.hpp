#pragma once
#include "lib/packet/eight_words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <immintrin.h>

// Eight frames at a time, as parse_columns.cpp parses them.
namespace sluice::eight_words {

// Read in the place of frames that are too short for it.
alignas(64) inline constexpr std::array<std::byte, 128> kNoFrame{};

// The frames of `where` only: kNoFrame stands in for the others.
[[nodiscard]] inline Starts chosen(const Starts& starts, std::uint32_t where) noexcept {
    Starts result;
    for (std::size_t i = 0; i < kGroup; ++i) {
        result[i] = (where >> i & 1) != 0 ? starts[i] : kNoFrame.data();
    }
    return result;
}

// Eight frames while their headers are parsed. A row that is not of the common shape leaves `fits`,
// and its words are unused from then on.
struct Group {
    Starts starts;  // as if there were no tag
    Words length;   // captured
    Words l3_at;
    Words after_type;  // the EtherType and the two bytes behind it
    FourWords head;    // from the EtherType on
    Words is_tagged;
    Words fits;

    Words is_v6;
    Words claimed;  // the IP packet's own length
    Words ip_size;
    Words proto;
    Words ttl;
    Words dscp;
    Words ports;  // source port above destination port
    Words udp_length;

    Words is_tcp;
    Words payload_len;
    Words l4_size;
    Words tcp_flags;
};

// The same test as is_vlan_type().
[[nodiscard]] inline Words is_vlan(Words type) noexcept {
    return either(either(is_equal(type, all(0x8100)), is_equal(type, all(0x88A8))),
                  either(is_equal(type, all(0x9100)), is_equal(type, all(0x9200))));
}

// The bytes behind the Ethernet header and its tag.
[[nodiscard]] inline Words behind_link(const Group& group) noexcept {
    return _mm256_sub_epi32(group.length, group.l3_at);
}

}  // namespace sluice::eight_words
