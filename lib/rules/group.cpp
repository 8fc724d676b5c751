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

// `value` has no bits beyond the prefix.
std::string prefix_text(const VersionedAddress& value, unsigned length) {
    const unsigned whole = value.version == IpVersion::V4 ? 32 : 128;
    std::string text = to_text(value.version, value.address);
    if (length < whole) {
        text += "/" + std::to_string(length);
    }
    return text;
}

std::string part_text(const KeyPart& part, const Flow& flow, ByteView frame,
                      std::string_view pair) {
    if (row_of(part.field).kind != FieldKind::Address) {
        return field_text(part.field, flow, frame, pair);
    }
    const VersionedAddress value = read_address(part.field, flow, frame);
    const unsigned length = part.length(value.version);
    return prefix_text({value.version, masked(value.address, length)}, length);
}

// Takes the first part off canonical bytes; nullopt: they do not begin with one.
std::optional<std::string> take_part(ByteView& key,
                                     const std::function<std::string(std::uint64_t)>& pair_of) {
    KeyPartHeader header;
    if (key.size() < sizeof(header)) {
        return std::nullopt;
    }
    std::memcpy(&header, key.data(), sizeof(header));
    key = key.subspan(sizeof(header));
    if (header.field >= kFieldCount || header.size > key.size()) {
        return std::nullopt;
    }
    const ByteView value = key.first(header.size);
    key = key.subspan(header.size);
    const auto field = static_cast<Field>(header.field);
    if (row_of(field).kind == FieldKind::Address) {
        const auto version = static_cast<IpVersion>(header.version);
        if (header.size != (version == IpVersion::V4 ? 4U : 16U)) {
            return std::nullopt;
        }
        VersionedAddress address{version, {}};
        std::memcpy(address.address.bytes.data(), value.data(), value.size());
        return prefix_text(address, header.prefix_length);
    }
    std::uint64_t number = 0;
    if (value.size() != sizeof(number)) {
        return std::nullopt;
    }
    std::memcpy(&number, value.data(), sizeof(number));
    return value_text(field, number, field == Field::Port ? pair_of(number) : "");
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

std::string text_of_key(ByteView key, const std::function<std::string(std::uint64_t)>& pair_of) {
    std::string text;
    for (bool first = true; !key.empty(); first = false) {
        const std::optional<std::string> part = take_part(key, pair_of);
        if (!part) {
            return {};
        }
        text += first ? "" : "|";
        append_escaped(text, *part);
    }
    return text;
}

}  // namespace sluice
