#pragma once
#include "lib/base/wide.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/policy/expression/expression.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

// What a condition says of a packet, worked out as it stands: the tree walked, each set asked one
// range after the other. It shares nothing with the compiled form and is its oracle.
namespace sluice::test {

template <typename Range, typename Value>
bool any_holds(const std::vector<Range>& ranges, const Value& value) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
        return range.first <= value && value <= range.last;
    });
}

// Every test is a regular expression to PCRE2, a library that Hyperscan knows nothing of.
inline bool regex_says(const TextTest& test, const std::string& asked, const std::string& text) {
    static constexpr std::string_view kBefore[] = {"\\A(?:", "\\A(?:", "(?:", "(?:", "(?:"};
    static constexpr std::string_view kBehind[] = {")\\z", ")", ")\\z", ")", ")"};
    const auto how = static_cast<std::size_t>(test.how);
    std::string pattern;
    for (const char c : asked) {
        char escape[5];
        (void)std::snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned char>(c));
        pattern += test.how == TextHow::Matches ? std::string(1, c) : std::string{escape};
    }
    pattern = std::string{kBefore[how]} + pattern + std::string{kBehind[how]};
    int error = 0;
    PCRE2_SIZE at = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                     test.ignore_case ? PCRE2_CASELESS : 0U, &error, &at, nullptr);
    if (code == nullptr) {
        std::abort();
    }
    pcre2_match_data* data = pcre2_match_data_create_from_pattern(code, nullptr);
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0,
                                  0, data, nullptr);
    pcre2_match_data_free(data);
    pcre2_code_free(code);
    return found >= 0;
}

// client.ip, address by address: the IPv4 address inside where there is one, its network, and every
// end of a range in that network asked whether the next address is in the set too.
inline bool client_says(const Leaf& leaf, const VersionedAddress& source) {
    const auto number = [](const IpAddress& address, std::size_t size) {
        Wide value = 0;
        for (std::size_t i = 0; i < size; ++i) {
            value = value * 256 + std::to_integer<unsigned>(address.bytes[i]);
        }
        return value;
    };
    bool four = source.version == IpVersion::V4;
    auto value = number(source.address, four ? 4 : 16);
    const auto nat64 = (static_cast<Wide>(0x0064'FF9B) << 64);
    const std::pair<bool, Wide> wrappings[] = {{(leaf.client.unwrapping.bits() & 1) != 0, nat64},
                                               {(leaf.client.unwrapping.bits() & 2) != 0, 0xFFFF}};
    for (const auto& [undone, prefix] : wrappings) {
        if (!four && undone && value >> 32 == prefix) {
            four = true;
            value &= 0xFFFF'FFFF;
        }
    }
    const unsigned free = four ? 32U - leaf.client.v4_length : 128U - leaf.client.v6_length;
    const auto first = free == 128 ? 0 : value >> free << free;
    const auto last =
        free == 128 ? ~static_cast<Wide>(0) : first + ((static_cast<Wide>(1) << free) - 1);
    auto at = first;
    for (bool moved = true; moved;) {
        moved = false;
        for (const AddressRange& range : four ? leaf.v4 : leaf.v6) {
            const auto end = number(range.last, four ? 4 : 16);
            if (number(range.first, four ? 4 : 16) <= at && at <= end) {
                if (end >= last) {
                    return true;
                }
                at = end + 1;
                moved = true;
            }
        }
    }
    return false;
}

inline bool leaf_says(const Leaf& leaf, const PacketHeaders& headers, ByteView frame) {
    if (!headers.fields.has(leaf.field)) {
        return false;
    }
    if (is_client(leaf.field)) {
        return client_says(leaf, read_address(leaf.field, headers, frame)) != leaf.negated;
    }
    if (row_of(leaf.field).kind == FieldKind::Address) {
        const VersionedAddress value = read_address(leaf.field, headers, frame);
        const auto& ranges = value.version == IpVersion::V4 ? leaf.v4 : leaf.v6;
        return any_holds(ranges, value.address) != leaf.negated;
    }
    return any_holds(leaf.numbers, read_number(leaf.field, headers, frame));
}

// A number in decimal digits against one, or against `first-last`.
inline bool number_says(const std::string& asked, const std::string& text) {
    const std::size_t middle = asked.find('-');
    const std::uint64_t number = std::stoull(text);
    return std::stoull(asked.substr(0, middle)) <= number &&
           number <= std::stoull(middle == std::string::npos ? asked : asked.substr(middle + 1));
}

// A text of a unit of a later layer.
inline bool unit_says(const TextTest& test, const PacketHeaders& headers) {
    if (headers.unit == nullptr || !headers.unit->has(test.field)) {
        return false;
    }
    const ByteView bytes = headers.unit->text(test.field);
    const std::string text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    const bool has = std::any_of(test.texts.begin(), test.texts.end(), [&](const std::string& one) {
        return test.how == TextHow::Within ? number_says(one, text) : regex_says(test, one, text);
    });
    return has != test.negated;
}

// A text of this field, found on its own: by the IP header's length and not by the parser's.
inline bool text_says(const TextTest& test, const PacketHeaders& headers, ByteView frame) {
    if (is_of_unit(test.field)) {
        return unit_says(test, headers);
    }
    if (!headers.fields.has(Field::PayloadLen) ||
        (headers.payload_len > 0 && headers.payload_at >= frame.size())) {
        return false;
    }
    std::string text;
    for (std::size_t at = headers.payload_at;
         at <
         std::min<std::size_t>(frame.size(), std::size_t{headers.payload_at} + headers.payload_len);
         ++at) {
        text += static_cast<char>(frame[at]);
    }
    const bool has = std::any_of(test.texts.begin(), test.texts.end(), [&](const std::string& one) {
        return regex_says(test, one, text);
    });
    return has != test.negated;
}

inline bool tree_says(const Expression& tree, const PacketHeaders& headers, ByteView frame) {
    const auto says = [&](const Expression& part) { return tree_says(part, headers, frame); };
    switch (tree.kind) {
        case Expression::Kind::Leaf:
            return leaf_says(tree.leaf, headers, frame);
        case Expression::Kind::Text:
            return text_says(tree.text, headers, frame);
        case Expression::Kind::Not:
            return !says(tree.parts.front());
        case Expression::Kind::And:
            return std::all_of(tree.parts.begin(), tree.parts.end(), says);
        default:
            return std::any_of(tree.parts.begin(), tree.parts.end(), says);
    }
}

}  // namespace sluice::test
