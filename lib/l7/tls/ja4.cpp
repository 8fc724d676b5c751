#include "lib/l7/tls/ja4.hpp"

#include "lib/base/ascii.hpp"
#include "lib/l7/byte_reader.hpp"
#include "lib/l7/crypto/sha256.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr std::size_t kHashDigits = 12;

// Values of two bytes, GREASE left out.
class ValueList {
public:
    void add(std::uint16_t value) noexcept {
        if (is_grease(value)) {
            return;
        }
        overflown_ = overflown_ || size_ == kMaxJa4Values;
        if (!overflown_) {
            values_[size_] = value;
            ++size_;
        }
    }
    void add_pairs(ByteView list) noexcept {
        for (std::size_t at = 0; at + 2 <= list.size() && !overflown_; at += 2) {
            add(load_be16(list, at));
        }
    }
    void sort() noexcept { std::sort(values_.data(), values_.data() + size_); }
    void leave_out(std::uint16_t value) noexcept {
        const std::uint16_t* const end = std::remove(values_.data(), values_.data() + size_, value);
        size_ = static_cast<std::size_t>(end - values_.data());
    }
    [[nodiscard]] bool overflown() const noexcept { return overflown_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const std::uint16_t* begin() const noexcept { return values_.data(); }
    [[nodiscard]] const std::uint16_t* end() const noexcept { return values_.data() + size_; }

private:
    std::array<std::uint16_t, kMaxJa4Values> values_;  // the first size_ are set
    std::size_t size_ = 0;
    bool overflown_ = false;
};

// Lists as JA4 hashes them: four hexadecimal digits each, with commas, and an underscore between
// two lists.
class ListText {
public:
    void add(const ValueList& values) noexcept {
        char separator = '_';
        for (const std::uint16_t value : values) {
            if (size_ > 0) {
                text_[size_++] = separator;
            }
            separator = ',';
            for (int shift = 12; shift >= 0; shift -= 4) {
                text_[size_++] = kHexDigits[value >> shift & 0xF];
            }
        }
    }
    [[nodiscard]] ByteView bytes() const noexcept { return bytes_of({text_.data(), size_}); }

private:
    std::array<char, kMaxJa4Values * 2 * 5> text_;  // the first size_ are set
    std::size_t size_ = 0;
};

// Digits of the hash of one list or two; zeroes where there is nothing to hash.
void write_hash(const ValueList& values, const ValueList* more, char* to) noexcept {
    ListText list;
    list.add(values);
    if (more != nullptr) {
        list.add(*more);
    }
    if (list.bytes().empty()) {
        std::fill_n(to, kHashDigits, '0');
        return;
    }
    const Sha256Digest digest = sha256(list.bytes());
    for (std::size_t i = 0; i < kHashDigits; ++i) {
        const auto byte = std::to_integer<unsigned>(digest[i / 2]);
        to[i] = kHexDigits[i % 2 == 0 ? byte >> 4 : byte & 0xF];
    }
}

void write_count(std::size_t count, char* to) noexcept {
    const std::size_t shown = std::min<std::size_t>(count, 99);
    to[0] = static_cast<char>('0' + shown / 10);
    to[1] = static_cast<char>('0' + shown % 10);
}

std::string_view ja4_version(std::uint16_t version) noexcept {
    switch (version) {
        case 0x0304:
            return "13";
        case 0x0303:
            return "12";
        case 0x0302:
            return "11";
        case 0x0301:
            return "10";
        case 0x0300:
            return "s3";
        default:
            return "00";
    }
}

// First and last character; where one of them is none, the first and the last digit of all bytes
// in hexadecimal.
void write_alpn(ByteView alpn, char* to) noexcept {
    to[0] = to[1] = '0';
    if (alpn.empty()) {
        return;
    }
    const auto first = std::to_integer<char>(alpn.front());
    const auto last = std::to_integer<char>(alpn.back());
    const bool plain = is_ascii_alphanumeric(first) && is_ascii_alphanumeric(last);
    to[0] = plain ? first : kHexDigits[std::to_integer<unsigned>(alpn.front() >> 4)];
    to[1] = plain ? last : kHexDigits[std::to_integer<unsigned>(alpn.back() & std::byte{0xF})];
}

ValueList extension_types(const ClientHello& hello) noexcept {
    ValueList types;
    for (ByteReader block{hello.extensions}; block.left() > 0 && !types.overflown();) {
        types.add(block.be16());
        (void)block.part16();
    }
    return types;
}

}  // namespace

std::optional<Ja4> make_ja4(const ClientHello& hello, HelloCarrier carrier) noexcept {
    ValueList ciphers;
    ciphers.add_pairs(hello.cipher_suites);
    ValueList extensions = extension_types(hello);
    ValueList algorithms;
    algorithms.add_pairs(hello.signature_algorithms);
    if (ciphers.overflown() || extensions.overflown() || algorithms.overflown()) {
        return std::nullopt;
    }
    Ja4 ja4;
    char* const to = ja4.characters.data();
    to[0] = static_cast<char>(carrier);
    std::copy_n(ja4_version(hello.version).begin(), 2, to + 1);
    to[3] = hello.has_server_name ? 'd' : 'i';
    write_count(ciphers.size(), to + 4);
    write_count(extensions.size(), to + 6);
    write_alpn(hello.alpn, to + 8);
    to[10] = to[23] = '_';
    ciphers.sort();
    write_hash(ciphers, nullptr, to + 11);
    extensions.sort();
    extensions.leave_out(kServerNameExtension);
    extensions.leave_out(kAlpnExtension);
    write_hash(extensions, &algorithms, to + 24);
    return ja4;
}

}  // namespace sluice
