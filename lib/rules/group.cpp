#include "lib/rules/group.hpp"

#include "lib/base/check.hpp"
#include "lib/packet/field_text.hpp"

#include <bit>
#include <cstring>

namespace sluice {
namespace {

// What stands in the place of the whole key when a part is missing and all such packets share.
constexpr std::byte kSharedKey{0xFF};

struct PartHeader {
    std::uint8_t field;
    std::uint8_t version;  // 4 or 6 for an address, else 0
    std::uint8_t prefix_length;
    std::uint8_t size;  // of the value that follows
};
static_assert(sizeof(PartHeader) == 4);

template <typename T>
ByteView bytes_of_value(const T& value) noexcept {
    return std::as_bytes(std::span{&value, 1});
}

std::uint8_t prefix_length(const KeyPart& part, IpVersion version) noexcept {
    return version == IpVersion::V4 ? part.v4_length : part.v6_length;
}

void append_address(KeyBytes& key, const KeyPart& part, const VersionedAddress& value) noexcept {
    const std::uint8_t length = prefix_length(part, value.version);
    const std::uint8_t size = value.version == IpVersion::V4 ? 4 : 16;
    const PartHeader header{static_cast<std::uint8_t>(part.field),
                            static_cast<std::uint8_t>(value.version), length, size};
    const IpAddress network = masked(value.address, length);
    key.append_block(std::bit_cast<std::uint32_t>(header), network.bytes, size);
}

void append_number(KeyBytes& key, Field field, std::uint64_t value) noexcept {
    const PartHeader header{static_cast<std::uint8_t>(field), 0, 0, sizeof(value)};
    key.append(bytes_of_value(header));
    key.append(bytes_of_value(value));
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
    const unsigned length = prefix_length(part, value.version);
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

// In words of eight bytes, as the hash reads them: a load that spans several stores waits for all
// of them. What is written beyond the size is overwritten by the next part, or not read.
void KeyBytes::append_block(std::uint32_t header, const std::array<std::byte, 16>& value,
                            std::size_t size) noexcept {
    SLUICE_CHECK(size_ + kMaxPartSize <= bytes_.size());
    const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(value);
    const std::uint64_t block[3] = {header | words[0] << 32, words[0] >> 32 | words[1] << 32,
                                    words[1] >> 32};
    std::byte* at = bytes_.data() + size_;
    std::memcpy(at, &block[0], 8);
    std::memcpy(at + 8, &block[1], 8);
    std::memcpy(at + 16, &block[2], 4);
    size_ += sizeof(header) + size;
}

void KeyBytes::append(ByteView bytes) noexcept {
    SLUICE_CHECK(bytes.size() <= bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
}

KeyOutcome key_of_parts(std::span<const KeyPart> parts, MissingKey missing, const Flow& flow,
                        ByteView frame, KeyBytes& key) noexcept {
    key.clear();
    if (!has_all_parts(parts, flow)) {
        if (missing == MissingKey::Skip) {
            return KeyOutcome::Missing;
        }
        key.append(ByteView{&kSharedKey, 1});
        return KeyOutcome::Shared;
    }
    for (const KeyPart& part : parts) {
        if (row_of(part.field).kind == FieldKind::Address) {
            append_address(key, part, read_address(part.field, flow, frame));
        } else {
            append_number(key, part.field, read_number(part.field, flow, frame));
        }
    }
    return KeyOutcome::Complete;
}

KeyOutcome key_of(const Rule& rule, const Flow& flow, ByteView frame, KeyBytes& key) noexcept {
    return key_of_parts(rule.key, rule.missing_key, flow, frame, key);
}

std::string key_text(const Rule& rule, const Flow& flow, ByteView frame, std::string_view pair) {
    if (!has_all_parts(rule.key, flow)) {
        return {};
    }
    std::string text;
    for (const KeyPart& part : rule.key) {
        if (&part != rule.key.data()) {
            text += '|';
        }
        append_escaped(text, part_text(part, flow, frame, pair));
    }
    return text;
}

}  // namespace sluice
