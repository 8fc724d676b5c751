#include "lib/policy/placement/common_parts.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

constexpr std::uint8_t kLongestV4 = 32;
constexpr std::uint8_t kLongestV6 = 128;

std::optional<KeyPart> common_part(const KeyPart& a, const KeyPart& b) {
    if (a.text != b.text || a.field != b.field || a.unwrapping != b.unwrapping) {
        return std::nullopt;
    }
    KeyPart part = a;
    part.v4_length = std::min(a.v4_length, b.v4_length);
    part.v6_length = std::min(a.v6_length, b.v6_length);
    part.lower = a.lower || b.lower;
    const bool told = !part.is_address() || part.v4_length != 0 || part.v6_length != 0;
    return told ? std::optional{part} : std::nullopt;
}

unsigned length_of(const KeyPart& part) noexcept {
    return unsigned{part.v4_length} + part.v6_length;
}

std::string part_text(const KeyPart& part, const TextNames& names) {
    std::string name = part.name(names);
    if (part.lower) {
        return "lower(" + name + ")";
    }
    if (!part.is_address() || (part.v4_length == kLongestV4 && part.v6_length == kLongestV6)) {
        return name;
    }
    return "prefix(" + name + ", " + std::to_string(part.v4_length) + "|" +
           std::to_string(part.v6_length) + ")";
}

}  // namespace

GroupingKey common_parts(const GroupingKey& a, const GroupingKey& b) {
    GroupingKey common;
    for (const KeyPart& part : a) {
        std::optional<KeyPart> longest;
        for (const KeyPart& other : b) {
            const std::optional<KeyPart> both = common_part(part, other);
            if (both && (!longest || length_of(*longest) < length_of(*both))) {
                longest = both;
            }
        }
        if (longest) {
            common.push_back(*longest);
        }
    }
    return common;
}

std::string parts_text(const GroupingKey& parts, const TextNames& names) {
    std::string text;
    for (const KeyPart& part : parts) {
        text += (text.empty() ? "" : ", ") + part_text(part, names);
    }
    return text;
}

}  // namespace sluice
