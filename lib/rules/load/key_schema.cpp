#include "lib/rules/load/key_schema.hpp"

#include "lib/rules/group.hpp"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

bool is_own_address(const KeyPart& part) noexcept {
    return !part.text && (part.field == Field::IpSrc || part.field == Field::IpDst ||
                          part.field == Field::ClientIp);
}

bool is_number(const KeyPart& part) noexcept {
    return !part.text && !part.is_address();
}

KeySchemaPart address_part(const KeyPart& part) noexcept {
    const bool source = part.field != Field::IpDst;
    return {.kind = source ? KeySchemaPart::Kind::Source : KeySchemaPart::Kind::Destination,
            .field = part.field,
            .header_v4 = address_header(part, IpVersion::V4),
            .header_v6 = address_header(part, IpVersion::V6),
            .mask_v4 = static_cast<std::uint32_t>(kFirstBits[part.v4_length]),
            .mask_v6 = {kFirstBits[std::min<unsigned>(part.v6_length, 64)],
                        kFirstBits[part.v6_length < 64 ? 0 : part.v6_length - 64U]}};
}

KeySchemaPart number_part(const KeyPart& part) noexcept {
    const auto header = std::bit_cast<std::uint32_t>(
        KeyPartHeader{static_cast<std::uint8_t>(part.field), 0, 0, sizeof(std::uint64_t)});
    return {.kind = KeySchemaPart::Kind::Number,
            .field = part.field,
            .header_v4 = header,
            .header_v6 = header};
}

}  // namespace

KeySchema make_key_schema(const GroupingKey& parts, MissingKey missing) {
    KeySchema schema{.parts = &parts, .missing = missing};
    schema.is_fixed = std::all_of(parts.begin(), parts.end(), [](const KeyPart& part) {
        return is_own_address(part) || is_number(part);
    });
    if (!schema.is_fixed) {
        return schema;
    }
    schema.is_fixed_v6 = std::all_of(parts.begin(), parts.end(), [](const KeyPart& part) {
        return part.unwrapping == Unwrapping{};
    });
    for (const KeyPart& part : parts) {
        schema.fixed.push_back(part.is_address() ? address_part(part) : number_part(part));
    }
    schema.is_one_address = parts.size() == 1 && parts.front().is_address();
    return schema;
}

bool are_same_key(const KeySchema& schema, const GroupingKey& parts, MissingKey missing) noexcept {
    return schema.missing == missing && *schema.parts == parts;
}

}  // namespace sluice
