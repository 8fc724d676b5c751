#pragma once
#include "lib/base/bytes.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// A text as a part of a key. Texts have any length and keys have room for so many bytes: what is
// longer is its beginning, for people, and a digest of the whole, so that two texts never are one
// key because they begin alike.
namespace sluice {

// In the place of KeyPartHeader::field: a text and not a field.
inline constexpr std::uint8_t kTextMark = 0x80;
// And with it, of all texts that rules name: a key does not depend on what else is named. The parts
// of one key tell them apart by their order, those of two by the limit.
inline constexpr std::uint8_t kNamedInKey = 0x7E;
// In the place of KeyPartHeader::prefix_length: the value ends in a digest.
inline constexpr std::uint8_t kDigestMark = 1;
// BLAKE2b with a digest of 128 bits, without a key (RFC 7693): programs agree on a text's digest
// without a common secret, and finding another text of the same digest is infeasible.
using TextDigest = std::array<std::byte, 16>;
inline constexpr std::size_t kTextDigestSize = sizeof(TextDigest);
// So many bytes of a long text stand before its digest, if the key has room for them.
inline constexpr std::size_t kMostOfLongText = 48;

static_assert(kLeastTextRoom >= kTextDigestSize);

// The value of a part, made of a text.
struct TextValue {
    std::array<std::byte, kMostTextRoom> bytes;
    std::uint8_t size;
    bool has_digest;

    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes}.first(size); }
};
[[nodiscard]] TextValue text_value(const KeyPart& part, ByteView text) noexcept;
// The value of a long text: its first kept_of_long_text() bytes, and its digest.
[[nodiscard]] TextValue long_text_value(const KeyPart& part, ByteView begin,
                                        const TextDigest& digest) noexcept;

// The value as people read it: bytes that would break a line or a part as \xNN, a digest as \h and
// 32 hexadecimal digits.
[[nodiscard]] std::string text_of_value(ByteView value, bool has_digest);

// The same of a number of a later layer: as its field is shown.
[[nodiscard]] std::string text_of_value(const TextFieldRow& row, ByteView value, bool has_digest);

// The same for any text.
void append_escaped(std::string& out, std::string_view text);

// So many bytes of a long text stand before its digest.
[[nodiscard]] constexpr std::size_t kept_of_long_text(const KeyPart& part) noexcept {
    const std::size_t most = part.room - kTextDigestSize;
    return most < kMostOfLongText ? most : kMostOfLongText;
}

// Shares the room that a key has among its texts; numbers have what they need.
void give_room(GroupingKey& key) noexcept;
// The bytes that a key of these parts takes at most.
[[nodiscard]] std::size_t most_bytes(const GroupingKey& key) noexcept;

}  // namespace sluice
