#include "lib/packet/field_text.hpp"

#include <charconv>
#include <cstdio>

namespace sluice {
namespace {

std::string mac_text(std::uint64_t mac) {
    char text[18] = {};
    (void)std::snprintf(
        text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x",
        static_cast<unsigned>(mac >> 40) & 0xFF, static_cast<unsigned>(mac >> 32) & 0xFF,
        static_cast<unsigned>(mac >> 24) & 0xFF, static_cast<unsigned>(mac >> 16) & 0xFF,
        static_cast<unsigned>(mac >> 8) & 0xFF, static_cast<unsigned>(mac) & 0xFF);
    return text;
}

std::string ether_type_text(std::uint64_t type) {
    char text[7] = {};
    (void)std::snprintf(text, sizeof(text), "0x%04x", static_cast<unsigned>(type) & 0xFFFF);
    return text;
}

std::string name_text(Field field, std::uint64_t value, std::string_view pair) {
    if (field == Field::Dir) {
        return std::string{kDirWords[value]};
    }
    if (field == Field::IpFrag) {
        return std::string{kFragWords[value]};
    }
    return std::string{pair};
}

}  // namespace

std::string field_text(Field field, const PacketHeaders& headers, ByteView frame,
                       std::string_view pair) {
    if (!headers.fields.has(field)) {
        return {};
    }
    if (row_of(field).kind == FieldKind::Address) {
        const VersionedAddress value = read_address(field, headers, frame);
        return to_text(value.version, value.address);
    }
    return value_text(field, read_number(field, headers, frame), pair);
}

std::string value_text(Field field, std::uint64_t value, std::string_view pair) {
    switch (row_of(field).kind) {
        case FieldKind::Mac:
            return mac_text(value);
        case FieldKind::Name:
            return name_text(field, value, pair);
        case FieldKind::Country:
            return country_text(static_cast<std::uint16_t>(value));
        default:
            return field == Field::EthType ? ether_type_text(value) : std::to_string(value);
    }
}

std::string number_text(const TextFieldRow& row, std::string_view digits) {
    std::uint64_t number = 0;
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number);
    if (row.hex_digits == 0 || error != std::errc{} || end != last) {
        return std::string{digits};
    }
    char text[2 + 16 + 1] = {};
    (void)std::snprintf(text, sizeof(text), "0x%0*llx", int{row.hex_digits},
                        static_cast<unsigned long long>(number));
    return text;
}

}  // namespace sluice
