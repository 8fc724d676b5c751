#include "lib/rules/group.hpp"

#include "lib/packet/field_text.hpp"
#include "lib/rules/text_part.hpp"

namespace sluice {
namespace {

// The whole key when a part is missing and all such packets share one.
constexpr std::byte kSharedKey{0xFF};

template <typename T>
ByteView bytes_of_value(const T& value) noexcept {
    return std::as_bytes(std::span{&value, 1});
}

bool has_all_parts(std::span<const KeyPart> parts, const PacketHeaders& headers,
                   ByteView frame) noexcept {
    for (const KeyPart& part : parts) {
        if (part.text ? !read_text(*part.text, headers, frame) : !headers.fields.has(part.field)) {
            return false;
        }
    }
    return true;
}

VersionedAddress address_of(const KeyPart& part, const PacketHeaders& headers,
                            ByteView frame) noexcept {
    return unwrapped(read_address(part.field, headers, frame), part.unwrapping);
}

std::string escaped(std::string_view text) {
    std::string out;
    append_escaped(out, text);
    return out;
}

// The caller has checked that it is there.
std::string part_text(const KeyPart& part, const PacketHeaders& headers, ByteView frame,
                      std::string_view pair) {
    if (part.text) {
        const TextValue value = text_value(part, *read_text(*part.text, headers, frame));
        return text_of_value(row_of(*part.text), value.view(), value.has_digest);
    }
    if (!part.is_address()) {
        return escaped(field_text(part.field, headers, frame, pair));
    }
    const VersionedAddress value = address_of(part, headers, frame);
    const std::uint8_t length = part.length(value.version);
    return to_text(IpPrefix{value.version, masked(value.address, length), length});
}

std::optional<std::string> text_of(const KeyPartHeader& header, ByteView value) {
    const bool has_digest = (header.prefix_length & kDigestMark) != 0;
    const std::size_t number = header.field & ~std::size_t{kTextMark};
    if ((number >= kTextFields.size() && number != kNamedInKey) ||
        (has_digest && value.size() < kTextDigestSize)) {
        return std::nullopt;
    }
    const TextFieldRow& row = number == kNamedInKey ? kNamedTextRow : kTextFields[number];
    return text_of_value(row, value, has_digest);
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
    if (header.size > key.size()) {
        return std::nullopt;
    }
    const ByteView value = key.first(header.size);
    key = key.subspan(header.size);
    if ((header.field & kTextMark) != 0) {
        return text_of(header, value);
    }
    if (header.field >= kFieldCount) {
        return std::nullopt;
    }
    const auto field = static_cast<Field>(header.field);
    if (row_of(field).kind == FieldKind::Address) {
        const auto version = static_cast<IpVersion>(header.version);
        if (header.size != (version == IpVersion::V4 ? 4U : 16U)) {
            return std::nullopt;
        }
        IpPrefix prefix{version, {}, header.prefix_length};
        std::memcpy(prefix.address.bytes.data(), value.data(), value.size());
        return to_text(prefix);
    }
    std::uint64_t number = 0;
    if (value.size() != sizeof(number)) {
        return std::nullopt;
    }
    std::memcpy(&number, value.data(), sizeof(number));
    return escaped(value_text(field, number, field == Field::Port ? pair_of(number) : ""));
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

void KeyBytes::append_text(const KeyPart& part, const TextValue& value) noexcept {
    const std::uint8_t field =
        is_named(*part.text) ? kNamedInKey : static_cast<std::uint8_t>(*part.text);
    const KeyPartHeader header{static_cast<std::uint8_t>(kTextMark | field), 0,
                               value.has_digest ? kDigestMark : std::uint8_t{0}, value.size};
    append(bytes_of_value(header));
    append(value.view());
}

void KeyBytes::append_shared() noexcept {
    append(ByteView{&kSharedKey, 1});
}

KeyOutcome key_of(std::span<const KeyPart> parts, MissingKey missing, const PacketHeaders& headers,
                  ByteView frame, KeyBytes& key) noexcept {
    key.clear();
    if (!has_all_parts(parts, headers, frame)) {
        if (missing == MissingKey::Skip) {
            return KeyOutcome::Missing;
        }
        key.append_shared();
        return KeyOutcome::Shared;
    }
    for (const KeyPart& part : parts) {
        if (part.text) {
            key.append_text(part, text_value(part, *read_text(*part.text, headers, frame)));
        } else if (part.is_address()) {
            key.append_address(part, address_of(part, headers, frame));
        } else {
            key.append_number(part.field, read_number(part.field, headers, frame));
        }
    }
    return KeyOutcome::Complete;
}

std::string key_text(std::span<const KeyPart> parts, const PacketHeaders& headers, ByteView frame,
                     std::string_view pair) {
    if (!has_all_parts(parts, headers, frame)) {
        return {};
    }
    std::string text;
    for (const KeyPart& part : parts) {
        if (&part != parts.data()) {
            text += '|';
        }
        text += part_text(part, headers, frame, pair);
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
        text += (first ? "" : "|") + *part;
    }
    return text;
}

}  // namespace sluice
