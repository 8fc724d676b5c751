#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

// RFC 1071: the one's complement of the one's complement sum of 16-bit words. All parts but the
// last have an even number of bytes.
class InternetChecksum {
public:
    // In line, and eight bytes at a time: most parts are headers.
    void add(ByteView part) noexcept {
        const std::byte* at = part.data();
        std::size_t left = part.size();
        if (left >= kLong) [[unlikely]] {
            const std::size_t whole = left & ~std::size_t{7};
            add_long(part.first(whole));
            at += whole;
            left -= whole;
        }
        for (; left >= 16; left -= 16, at += 16) {
            add_word(load<std::uint64_t>(at));
            add_word(load<std::uint64_t>(at + 8));
        }
        if ((left & 8U) != 0) {
            add_word(load<std::uint64_t>(at));
            at += 8;
        }
        if ((left & 4U) != 0) {
            add_word(load<std::uint32_t>(at));
            at += 4;
        }
        if ((left & 3U) != 0) {
            add_rest(at, left & 3U);
        }
    }
    void add_be16(std::uint16_t word) noexcept { add_word(__builtin_bswap16(word)); }
    // Adds what TCP and UDP cover besides their segment: RFC 9293, 3.1, and RFC 8200, 8.1.
    void add_pseudo_header(IpVersion version, const IpAddress& src, const IpAddress& dst,
                           std::uint8_t proto, std::uint16_t size) noexcept {
        const std::size_t bytes = version == IpVersion::V4 ? 4 : 16;
        add(ByteView{src.bytes}.first(bytes));
        add(ByteView{dst.bytes}.first(bytes));
        add_be16(proto);
        add_be16(size);
    }

    // True if the bytes added, not all of them zero, hold their own checksum and it is right.
    [[nodiscard]] bool is_right() const noexcept { return sum_ % 0xFFFF == 0 && sum_ != 0; }
    [[nodiscard]] std::uint16_t value() const noexcept {
        std::uint64_t sum = (sum_ & 0xFFFF'FFFF) + (sum_ >> 32);
        while (sum > 0xFFFF) {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        return __builtin_bswap16(static_cast<std::uint16_t>(~sum));
    }

private:
    static constexpr std::size_t kLong = 128;  // from here on several words at once are faster

    template <typename Word>
    [[nodiscard]] static Word load(const std::byte* at) noexcept {
        Word word{};
        std::memcpy(&word, at, sizeof(word));
        return word;
    }
    // A carry out of the upper end comes in at the lower one.
    void add_word(std::uint64_t word) noexcept {
        const bool carries = __builtin_add_overflow(sum_, word, &sum_);
        sum_ += carries ? 1U : 0U;
    }
    // An odd byte is the upper one of its word.
    void add_rest(const std::byte* at, std::size_t left) noexcept {
        if ((left & 2U) != 0) {
            add_word(load<std::uint16_t>(at));
            at += 2;
        }
        if ((left & 1U) != 0) {
            add_word(load<std::uint8_t>(at));
        }
    }
    void add_long(ByteView part) noexcept;

    // A sum of words as the machine loads them: its bytes swap with theirs (RFC 1071, 2 (B)).
    std::uint64_t sum_ = 0;
};

// A checksum once one of the words that it covers is another: RFC 1624, 3, equation 3. One that was
// wrong stays wrong.
[[nodiscard]] constexpr std::uint16_t updated_checksum(std::uint16_t checksum, std::uint16_t before,
                                                       std::uint16_t after) noexcept {
    std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
    sum += static_cast<std::uint16_t>(~before);
    sum += after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace sluice
