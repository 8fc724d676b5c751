#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/check.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The header before the value of each part of a key.
struct KeyPartHeader {
    std::uint8_t field;          // or kTextMark and the text
    std::uint8_t version;        // 4 or 6 for an address, else 0
    std::uint8_t prefix_length;  // of an address; of a text kDigestMark, or 0
    std::uint8_t size;           // of the value that follows
};
static_assert(sizeof(KeyPartHeader) == 4);

[[nodiscard]] inline std::uint32_t address_header(const KeyPart& part, IpVersion version) noexcept {
    return std::bit_cast<std::uint32_t>(KeyPartHeader{
        static_cast<std::uint8_t>(part.field), static_cast<std::uint8_t>(version),
        part.length(version), static_cast<std::uint8_t>(version == IpVersion::V4 ? 4 : 16)});
}

// The header of a key of nothing but an address, which stands behind it; version 0: these are no
// canonical bytes of such a key.
[[nodiscard]] inline KeyPartHeader address_header_of(ByteView key) noexcept {
    KeyPartHeader header{};
    if (key.size() < sizeof(header)) {
        return header;
    }
    std::memcpy(&header, key.data(), sizeof(header));
    const bool v4 = header.version == 4 && header.size == 4 && header.prefix_length <= 32;
    const bool v6 = header.version == 6 && header.size == 16 && header.prefix_length <= 128;
    return (v4 || v6) && key.size() == sizeof(header) + header.size ? header : KeyPartHeader{};
}

// The address or network that such a key is; IpVersion::None: it is another key.
[[nodiscard]] inline IpPrefix address_of_key(ByteView key) noexcept {
    const KeyPartHeader header = address_header_of(key);
    IpPrefix prefix{static_cast<IpVersion>(header.version), {}, header.prefix_length};
    if (header.version != 0) {
        std::memcpy(prefix.address.bytes.data(), key.data() + sizeof(header), header.size);
    }
    return prefix;
}

struct TextValue;

// The canonical bytes of a grouping key: for each part its field, prefix lengths, value length and
// value, so that a|bc is never ab|c and 1.2.3.4 is never the number 16909060. A text is in
// text_part.hpp.
// One is made per match and only written bytes are read, so nothing is cleared beforehand.
class KeyBytes {
public:
    static constexpr std::size_t kMaxPartSize = sizeof(KeyPartHeader) + 16;
    static constexpr std::size_t kMaxSize = kMaxKeySize;
    static_assert(kMaxSize == kMaxKeyParts * kMaxPartSize);
    static_assert(kMaxPartSize == sizeof(KeyPartHeader) + kLeastTextRoom);

    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes_}.first(size_); }
    void clear() noexcept { size_ = 0; }
    void append(ByteView bytes) noexcept;
    void append_number(Field field, std::uint64_t value) noexcept;
    void append_text(const KeyPart& part, const TextValue& value) noexcept;
    // The whole key when a part is missing and all such packets share one.
    void append_shared() noexcept;
    // Takes the address as the part has it: what it unwraps has been unwrapped.
    void append_address(const KeyPart& part, const VersionedAddress& value) noexcept {
        SLUICE_CHECK(size_ + kMaxPartSize <= bytes_.size());
        append_block(address_header(part, value.version),
                     masked(value.address, part.length(value.version)));
        size_ += sizeof(KeyPartHeader) + (value.version == IpVersion::V4 ? 4 : 16);
    }

private:
    // In words of eight bytes, as the hash reads them: a load that spans several stores waits for
    // all of them. What is written beyond the size is overwritten by the next part, or not read.
    void append_block(std::uint32_t header, const IpAddress& address) noexcept {
        const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(address.bytes);
        const std::uint64_t block[3] = {header | words[0] << 32, words[0] >> 32 | words[1] << 32,
                                        words[1] >> 32};
        std::byte* at = bytes_.data() + size_;
        std::memcpy(at, &block[0], 8);
        std::memcpy(at + 8, &block[1], 8);
        std::memcpy(at + 16, &block[2], 4);
    }

    std::array<std::byte, kMaxSize> bytes_;
    std::size_t size_{0};
};

enum class KeyOutcome : std::uint8_t {
    Complete,
    Shared,   // a part is missing, and missing_key says that all such packets share one bucket
    Missing,  // a part is missing: the limits under this key do not apply
};

[[nodiscard]] KeyOutcome key_of(std::span<const KeyPart> parts, MissingKey missing,
                                const PacketHeaders& headers, ByteView frame,
                                KeyBytes& key) noexcept;

// The key as `part|part`, in the fields' text forms; prefixes as address/length; bytes that would
// break a line or a part as \xNN. Empty when a part is missing.
[[nodiscard]] std::string key_text(std::span<const KeyPart> parts, const PacketHeaders& headers,
                                   ByteView frame, std::string_view pair);

// The same of canonical bytes; `pair_of` gives the text of a port_name(). Empty for the bucket that
// all packets share in which a part is missing, or when these are no bytes of a key.
[[nodiscard]] std::string text_of_key(ByteView key,
                                      const std::function<std::string(std::uint64_t)>& pair_of);

}  // namespace sluice
