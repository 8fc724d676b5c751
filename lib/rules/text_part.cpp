#include "lib/rules/text_part.hpp"

#include "lib/packet/field_text.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <cstring>

#include <blake2.h>

namespace sluice {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// Copies a text that may have to be in small letters.
void copy(ByteView from, bool lower, std::byte* to) noexcept {
    for (const std::byte byte : from) {
        const auto c = std::to_integer<unsigned>(byte);
        *to++ = lower && c >= 'A' && c <= 'Z' ? static_cast<std::byte>(c | 0x20) : byte;
    }
}

// libb2 keeps its state in the caller's memory and allocates nothing.
TextDigest digest_of(ByteView text, bool lower) noexcept {
    alignas(64) blake2b_state hash;
    (void)blake2b_init(&hash, sizeof(TextDigest));
    std::array<std::byte, BLAKE2B_BLOCKBYTES> block;
    while (!text.empty()) {
        const ByteView now = text.first(std::min(block.size(), text.size()));
        copy(now, lower, block.data());
        (void)blake2b_update(&hash, reinterpret_cast<const std::uint8_t*>(block.data()),
                             now.size());
        text = text.subspan(now.size());
    }
    TextDigest digest;
    (void)blake2b_final(&hash, reinterpret_cast<std::uint8_t*>(digest.data()), digest.size());
    return digest;
}

// The first call of each function of libb2 chooses its implementation and writes the choice into a
// plain global variable. It happens here, while the program is loaded and has one thread, so that
// workers only read it.
[[maybe_unused]] const TextDigest kImplementationsChosen = digest_of(bytes_of("."), false);

// A number of a later layer needs little room, and the same for any value.
constexpr bool is_number(TextField field) noexcept {
    return row_of(field).kind == TextKind::Number;
}
static_assert(kLeastTextRoom >= 10, "digits of 32 bits");

std::size_t most_bytes(const KeyPart& part) noexcept {
    constexpr std::size_t kNumber = sizeof(std::uint64_t);
    constexpr std::size_t kAddress = 16;
    if (part.text) {
        return sizeof(KeyPartHeader) + part.room;
    }
    return sizeof(KeyPartHeader) +
           (row_of(part.field).kind == FieldKind::Address ? kAddress : kNumber);
}

std::string_view chars_of(ByteView bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TextValue text_value(const KeyPart& part, ByteView text) noexcept {
    if (text.size() > part.room) {
        return long_text_value(part, text.first(kept_of_long_text(part)),
                               digest_of(text, part.lower));
    }
    TextValue value;
    copy(text, part.lower, value.bytes.data());
    value.size = static_cast<std::uint8_t>(text.size());
    value.has_digest = false;
    return value;
}

TextValue long_text_value(const KeyPart& part, ByteView begin, const TextDigest& digest) noexcept {
    TextValue value;
    copy(begin, part.lower, value.bytes.data());
    std::memcpy(value.bytes.data() + begin.size(), digest.data(), digest.size());
    value.size = static_cast<std::uint8_t>(begin.size() + digest.size());
    value.has_digest = true;
    return value;
}

void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7F || c == '|' || c == '\\') {
            out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 0xF]};
        } else {
            out += c;
        }
    }
}

std::string text_of_value(ByteView value, bool has_digest) {
    std::string text;
    const std::size_t kept = value.size() - (has_digest ? kTextDigestSize : 0);
    append_escaped(text, chars_of(value.first(kept)));
    if (has_digest) {
        text += "\\h";
        for (const std::byte byte : value.subspan(kept)) {
            const auto bits = std::to_integer<unsigned>(byte);
            text += {kHex[bits >> 4], kHex[bits & 0xF]};
        }
    }
    return text;
}

std::string text_of_value(const TextFieldRow& row, ByteView value, bool has_digest) {
    return row.hex_digits == 0 ? text_of_value(value, has_digest)
                               : number_text(row, chars_of(value));
}

void give_room(GroupingKey& key) noexcept {
    const auto shares = [](const KeyPart& part) { return part.text && !is_number(*part.text); };
    const auto texts = static_cast<std::size_t>(std::count_if(key.begin(), key.end(), shares));
    std::size_t room = kMaxKeySize;
    for (KeyPart& part : key) {
        part.room = part.text && !shares(part) ? kLeastTextRoom : 0;
        room -= shares(part) ? sizeof(KeyPartHeader) : most_bytes(part);
    }
    for (KeyPart& part : key) {
        if (shares(part)) {
            part.room = static_cast<std::uint8_t>(std::min(kMostTextRoom, room / texts));
        }
    }
}

std::size_t most_bytes(const GroupingKey& key) noexcept {
    std::size_t bytes = 0;
    for (const KeyPart& part : key) {
        bytes += most_bytes(part);
    }
    return bytes;
}

}  // namespace sluice
