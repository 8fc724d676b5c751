#include "lib/rules/group.hpp"

#include "lib/packet/field_text.hpp"

#include <cstring>

namespace sluice {
namespace {

// What stands in the place of the whole key when a part is missing and all such packets share.
constexpr std::byte kSharedKey{0xFF};

template <typename T>
ByteView bytes_of_value(const T& value) noexcept {
    return std::as_bytes(std::span{&value, 1});
}

bool has_all_parts(std::span<const KeyPart> parts, const Flow& flow) noexcept {
    for (const KeyPart& part : parts) {
        if (!flow.fields.has(part.field)) {
            return false;
        }
    }
    return true;
}

std::string part_text(const KeyPart& part, const Flow& flow, ByteView frame,
                      std::string_view pair) {
    if (row_of(part.field).kind != FieldKind::Address) {
        return field_text(part.field, flow, frame, pair);
    }
    const VersionedAddress value = read_address(part.field, flow, frame);
    const unsigned length = part.length(value.version);
    const unsigned whole = value.version == IpVersion::V4 ? 32 : 128;
    std::string text = to_text(value.version, masked(value.address, length));
    if (length < whole) {
        text += "/" + std::to_string(length);
    }
    return text;
}

void append_escaped(std::string& out, std::string_view part) {
    constexpr std::string_view kHex = "0123456789abcdef";
    for (const char c : part) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7F || c == '|' || c == '\\') {
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xF]};
        } else {
            out += c;
        }
    }
}

}  // namespace

void KeyBytes::append(ByteView bytes) noexcept {
    SLUICE_CHECK(bytes.size() <= bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
}

void KeyBytes::append_number(Field field, std::uint64_t value) noexcept {
    const KeyPartHeader header{static_cast<std::uint8_t>(field), 0, 0, sizeof(value)};
    append(bytes_of_value(header));
    append(bytes_of_value(value));
}

void KeyBytes::append_shared() noexcept {
    append(ByteView{&kSharedKey, 1});
}

KeyOutcome key_of(std::span<const KeyPart> parts, MissingKey missing, const Flow& flow,
                  ByteView frame, KeyBytes& key) noexcept {
    key.clear();
    if (!has_all_parts(parts, flow)) {
        if (missing == MissingKey::Skip) {
            return KeyOutcome::Missing;
        }
        key.append_shared();
        return KeyOutcome::Shared;
    }
    for (const KeyPart& part : parts) {
        if (row_of(part.field).kind == FieldKind::Address) {
            key.append_address(part, read_address(part.field, flow, frame));
        } else {
            key.append_number(part.field, read_number(part.field, flow, frame));
        }
    }
    return KeyOutcome::Complete;
}

std::string key_text(std::span<const KeyPart> parts, const Flow& flow, ByteView frame,
                     std::string_view pair) {
    if (!has_all_parts(parts, flow)) {
        return {};
    }
    std::string text;
    for (const KeyPart& part : parts) {
        if (&part != parts.data()) {
            text += '|';
        }
        append_escaped(text, part_text(part, flow, frame, pair));
    }
    return text;
}

}  // namespace sluice
