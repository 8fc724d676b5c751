#include "lib/l7/stream/connection_ends.hpp"

#include "lib/packet/vlan_tags.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint32_t word_of(VlanTags tags) noexcept {
    constexpr unsigned kTagBits = 13;
    return std::uint32_t{tags.outer} << kTagBits | tags.inner;
}

using WordsV4 = std::array<std::uint64_t, 4>;  // two blocks of the hash
using WordsV6 = std::array<std::uint64_t, 7>;
using AddressV6 = std::array<std::uint64_t, 2>;

// All but the addresses.
struct Rest {
    std::uint64_t pair;
    std::uint32_t tags;
    std::uint16_t sport;
    std::uint16_t dport;
    std::uint8_t proto;
    bool from_outside;
};

// Ends that are one and the same: the outside is the low one.
template <typename Address>
bool is_from_low(const Address& src, const Address& dst, const Rest& rest) noexcept {
    const auto sender = std::pair{src, rest.sport};
    const auto receiver = std::pair{dst, rest.dport};
    return sender < receiver || (sender == receiver && rest.from_outside);
}

std::uint64_t ports_and_tags(const Rest& rest, bool from_low) noexcept {
    const std::uint32_t low = from_low ? rest.sport : rest.dport;
    const std::uint32_t high = from_low ? rest.dport : rest.sport;
    return std::uint64_t{rest.tags} << 32 | high << 16 | low;
}
std::uint64_t side_and_proto(const Rest& rest, bool from_low) noexcept {
    return std::uint64_t{rest.proto} << 1 | (from_low == rest.from_outside ? 1U : 0U);
}

// IPv4 and IPv6 differ in their size, which is hashed.
WordsV4 words_of(std::uint32_t src, std::uint32_t dst, const Rest& rest, bool from_low) noexcept {
    const std::uint64_t low = from_low ? src : dst;
    const std::uint64_t high = from_low ? dst : src;
    return {rest.pair, high << 32 | low, ports_and_tags(rest, from_low),
            side_and_proto(rest, from_low)};
}
WordsV6 words_of(const AddressV6& src, const AddressV6& dst, const Rest& rest,
                 bool from_low) noexcept {
    const AddressV6& low = from_low ? src : dst;
    const AddressV6& high = from_low ? dst : src;
    return {rest.pair,
            low[0],
            low[1],
            high[0],
            high[1],
            ports_and_tags(rest, from_low),
            side_and_proto(rest, from_low)};
}

AddressV6 both_words(const IpAddress& address) noexcept {
    return std::bit_cast<AddressV6>(address.bytes);
}
std::uint32_t v4_word(const IpAddress& address) noexcept {
    std::uint32_t word = 0;
    std::memcpy(&word, address.bytes.data(), sizeof(word));
    return word;
}

template <typename Address>
ConnectionEnds ends_between(const Address& src, const Address& dst, const Rest& rest,
                            const KeyHasher& hash) noexcept {
    const bool from_low = is_from_low(src, dst, rest);
    const auto words = words_of(src, dst, rest, from_low);
    return {hash.digest(std::as_bytes(std::span{words})), from_low, rest.from_outside};
}

// Rows with ports and at most one tag, whose columns have all of it.
class EndsOfRows {
public:
    EndsOfRows(const HeaderColumns& headers, RowEnds& ends) noexcept
        : headers_{headers}, ends_{ends} {}

    template <typename Digest>
    [[gnu::always_inline]] void fill(RowMask rows, Digest&& digest) noexcept {
        for (RowMask left = rows & ~headers_.v6; left != 0; left &= left - 1) {
            const auto row = static_cast<std::size_t>(std::countr_zero(left));
            add(row, headers_.src[row], headers_.dst[row], digest);
        }
        for (RowMask left = rows & headers_.v6; left != 0; left &= left - 1) {
            const auto row = static_cast<std::size_t>(std::countr_zero(left));
            add(row, both_words(headers_.src6[row]), both_words(headers_.dst6[row]), digest);
        }
    }
    SLUICE_AES void fill_by_aes(RowMask rows, const AesHash& hash) noexcept {
        fill(rows, [&](const auto& words) SLUICE_AES {
            return hash.of_words_at(words.size() * sizeof(std::uint64_t),
                                    [&](std::size_t index) { return words[index]; });
        });
    }

private:
    template <typename Address, typename Digest>
    [[gnu::always_inline]] void add(std::size_t row, const Address& src, const Address& dst,
                                    Digest&& digest) noexcept {
        const Rest rest = rest_of(row);
        const bool from_low = is_from_low(src, dst, rest);
        ends_.digest[row] = digest(words_of(src, dst, rest, from_low));
        ends_.from_low |= from_low ? row_bit(row) : 0;
        ends_.from_outside |= rest.from_outside ? row_bit(row) : 0;
    }
    [[nodiscard]] Rest rest_of(std::size_t row) const noexcept {
        const bool is_tagged = has_row(headers_.present_rows(HeaderPart::Vlan), row);
        return {.pair = headers_.port[row],
                .tags = word_of(vlan_tags(is_tagged, headers_.vlan_id[row])),
                .sport = headers_.sport[row],
                .dport = headers_.dport[row],
                .proto = headers_.proto[row],
                .from_outside = headers_.dir[row] == Direction::In};
    }

    const HeaderColumns& headers_;
    RowEnds& ends_;
};

}  // namespace

ConnectionEnds connection_ends(const PacketHeaders& headers, const KeyHasher& hash) noexcept {
    const bool has_ports = headers.fields.has(Field::L4Sport);
    const Rest rest{.pair = headers.port,
                    .tags = word_of(vlan_tags(headers)),
                    .sport = has_ports ? headers.sport : std::uint16_t{0},
                    .dport = has_ports ? headers.dport : std::uint16_t{0},
                    .proto = headers.proto,
                    .from_outside = headers.dir == Direction::In};
    return headers.ip_version == IpVersion::V6
               ? ends_between(both_words(headers.src), both_words(headers.dst), rest, hash)
               : ends_between(v4_word(headers.src), v4_word(headers.dst), rest, hash);
}

void fill_connection_ends(const HeaderColumns& headers, RowMask rows, const KeyHasher& hash,
                          RowEnds& ends) noexcept {
    const RowMask plain = rows & headers.present_rows(HeaderPart::Ports) &
                          ~headers.present_rows(HeaderPart::InnerVlan);
    ends.from_low &= ~rows;
    ends.from_outside &= ~rows;
    EndsOfRows columns{headers, ends};
    if (const AesHash* const aes = hash.aes(); aes != nullptr) {
        columns.fill_by_aes(plain, *aes);
    } else {
        columns.fill(
            plain, [&](const auto& words) { return hash.digest(std::as_bytes(std::span{words})); });
    }
    for_each_row(rows & ~plain, [&](std::size_t row) {
        const ConnectionEnds of = connection_ends(headers.headers(row), hash);
        ends.digest[row] = of.digest;
        ends.from_low |= of.from_low ? row_bit(row) : 0;
        ends.from_outside |= of.from_outside ? row_bit(row) : 0;
    });
    ends.filled |= rows;
}

}  // namespace sluice
