#include "lib/l7/dns/dns_name.hpp"

#include <array>

namespace sluice {
namespace {

constexpr std::uint8_t kPointer = 0xC0;  // the two highest bits of a length byte

// The text of a label's octet: itself in small letters; 0: an escape.
constexpr auto kPlain = [] {
    std::array<std::uint8_t, 256> plain{};
    for (unsigned c = 0x21; c <= 0x7E; ++c) {
        plain[c] = static_cast<std::uint8_t>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    plain['.'] = plain['\\'] = 0;
    return plain;
}();

class Writer {
public:
    explicit Writer(std::span<std::byte> to) noexcept : to_{to} {}

    void put(unsigned c) noexcept { to_[size_++] = static_cast<std::byte>(c); }
    void put_octet(std::uint8_t octet) noexcept {
        if (kPlain[octet] != 0) [[likely]] {
            put(kPlain[octet]);
            return;
        }
        put('\\');
        if (octet == '.' || octet == '\\') {
            put(octet);
            return;
        }
        put('0' + octet / 100U);
        put('0' + octet / 10U % 10U);
        put('0' + octet % 10U);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::span<std::byte> to_;
    std::size_t size_ = 0;
};

}  // namespace

DnsNameWalk walk_dns_name(ByteView message, std::size_t at) noexcept {
    std::size_t begun = at;  // where the labels at hand began
    std::size_t end = 0;     // 0: no pointer has been followed
    std::size_t size = 0;    // uncompressed
    std::size_t pointers = 0;
    for (std::size_t steps = 1;; ++steps) {
        if (at >= message.size()) {
            return {DnsParsed::Truncated};
        }
        const std::uint8_t length = load_u8(message, at);
        if (length > kMaxDnsLabel) {
            if (length < kPointer) {
                return {DnsParsed::BadLabel};
            }
            if (message.size() - at < 2) {
                return {DnsParsed::Truncated};
            }
            const std::size_t to = load_be16(message, at) & 0x3FFFU;
            if (to >= begun || ++pointers > kMaxDnsPointers) {
                return {DnsParsed::BadPointer};
            }
            end = end == 0 ? at + 2 : end;
            at = begun = to;
            continue;
        }
        size += length + std::size_t{1};
        if (size > kMaxDnsName) {
            return {DnsParsed::NameTooLong};
        }
        if (length == 0) {
            return {DnsParsed::Ok, end == 0 ? at + 1 : end, steps};
        }
        if (message.size() - at <= length) {
            return {DnsParsed::Truncated};
        }
        at += length + std::size_t{1};
    }
}

std::size_t write_dns_name(ByteView message, std::size_t at, std::span<std::byte> to) noexcept {
    Writer out{to};
    for (std::uint8_t length = load_u8(message, at); length != 0; length = load_u8(message, at)) {
        if (length > kMaxDnsLabel) {
            at = load_be16(message, at) & 0x3FFFU;
            continue;
        }
        if (out.size() != 0) {
            out.put('.');
        }
        for (const std::byte octet : message.subspan(at + 1, length)) {
            out.put_octet(std::to_integer<std::uint8_t>(octet));
        }
        at += length + std::size_t{1};
    }
    if (out.size() == 0) {
        out.put('.');
    }
    return out.size();
}

}  // namespace sluice
