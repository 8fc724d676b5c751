#include "lib/l7/http1/host.hpp"

#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <string_view>

namespace sluice::http1 {

namespace {

bool is_port(ByteView port) noexcept {
    constexpr std::size_t kMaxDigits = 5;
    return port.size() <= kMaxDigits && std::all_of(port.begin(), port.end(), is_digit);
}

// All that most hosts have, in lower case: letters, digits, - and .
std::uint32_t not_plain_mask(Block block) noexcept {
    const Block letter = _mm256_sub_epi8(block, _mm256_set1_epi8('a'));
    const Block digit = _mm256_sub_epi8(block, _mm256_set1_epi8('0'));
    return ~(at_most_mask(letter, 'z' - 'a') | at_most_mask(digit, 9) | equal_mask(block, '-') |
             equal_mask(block, '.'));
}

bool is_number(ByteView label) noexcept {
    const bool is_hex =
        label.size() > 1 && label[0] == std::byte{'0'} && to_lower(label[1]) == std::byte{'x'};
    const ByteView digits = label.subspan(is_hex ? 2 : 0);
    return !label.empty() && std::all_of(digits.begin(), digits.end(), [is_hex](std::byte byte) {
        return is_hex ? is(byte, kHexDigit) : is_digit(byte);
    });
}

// Four decimal numbers below 256, without zeroes before them.
bool is_dotted_quad(ByteView name) noexcept {
    std::size_t at = 0;
    for (unsigned numbers = 1;; ++numbers) {
        const std::size_t begin = at;
        unsigned value = 0;
        for (; at < name.size() && at - begin < 3 && is_digit(name[at]); ++at) {
            value = value * 10 + hex_value(name[at]);
        }
        const std::size_t digits = at - begin;
        if (digits == 0 || value > 0xFF || (digits > 1 && name[begin] == std::byte{'0'})) {
            return false;
        }
        if (numbers == 4 || at == name.size() || name[at] != kDot) {
            return numbers == 4 && at == name.size();
        }
        ++at;
    }
}

[[gnu::cold, gnu::noinline]] bool is_odd_address_slow(const ReadableText& name) noexcept {
    const ByteView bytes = name.bytes();
    const ByteView label = bytes.subspan(behind_last(name, '.'));
    return !label.empty() && is_digit(label.front()) && is_number(label) && !is_dotted_quad(bytes);
}

// A name that ends in a number, and is no IPv4 address as all write it: programs that read URLs
// take it for one, of fewer parts, in octal or in hex. Most names end in two letters of none.
bool is_odd_address(const ReadableText& name) noexcept {
    const ByteView bytes = name.bytes();
    const std::size_t last = bytes.size() - 1;
    return !bytes.empty() && is(bytes[last], kOfNumber) &&
           is(bytes[last == 0 ? 0 : last - 1], kOfNumber) && is_odd_address_slow(name);
}

// A label of IDNA that decodes to itself without its xn-- and its last hyphen: to nothing, or to
// ASCII, which has no such form, and which some programs take for that name.
bool is_odd_label(ByteView label) noexcept {
    constexpr std::string_view kPrefix = "xn--";
    return label.size() >= kPrefix.size() && label.back() == kHyphen &&
           equals_ignoring_case(label.first(kPrefix.size()), kPrefix);
}

[[gnu::cold, gnu::noinline]] bool has_odd_label(ByteView name) noexcept {
    for (std::size_t begin = 0; begin < name.size();) {
        const ByteView rest = name.subspan(begin);
        const ByteView label = rest.first(find_byte(rest, 0, '.'));
        if (is_odd_label(label)) {
            return true;
        }
        begin += label.size() + 1;
    }
    return false;
}

// The part of a host that is its own form but for a port; zero: it has to be read as a whole.
std::size_t plain_size(const ReadableText& host) noexcept {
    const ByteView sent = host.bytes();
    std::uint32_t pairs = 0;   // of hyphens, as most names have none
    std::uint32_t before = 0;  // one that the block before ends with
    const std::size_t size = find_byte(host, 0, [&](Block block) {
        const std::uint32_t hyphens = equal_mask(block, '-');
        pairs |= hyphens & (hyphens << 1 | before);
        before = hyphens >> (kBlock - 1);
        return not_plain_mask(block);
    });
    const bool ends =
        size == sent.size() || (sent[size] == kColon && is_port(sent.subspan(size + 1)));
    const bool is_plain = size != 0 && sent[size - 1] != kDot && ends &&
                          !is_odd_address(host.with(sent.first(size))) &&
                          (pairs == 0 || !has_odd_label(sent.first(size)));
    return is_plain ? size : 0;
}

// `is_literal`: of an IPv6 address.
bool is_of_host(const ReadableText& host, ByteView text, bool is_literal) noexcept {
    // Most have letters, digits, - and . alone.
    const std::size_t plain = find_byte(
        host.with(text), 0, [](Block block) { return not_plain_mask(lower_block(block)); });
    text = text.subspan(is_literal ? 0 : plain);
    return std::all_of(text.begin(), text.end(), [is_literal](std::byte byte) {
        return is_literal ? byte == kColon || byte == kDot || is(byte, kHexDigit)
                          : is(byte, kHostByte);
    });
}

// An address in brackets has a colon, which no name has.
bool has_colon(ByteView text) noexcept {
    return std::find(text.begin(), text.end(), kColon) != text.end();
}

// The bytes of an address in brackets, these included; 0: it is none.
std::size_t literal_size(const ReadableText& host) noexcept {
    const std::size_t close = find_byte(host, 0, ']');
    if (close == host.size() || close < 2) {
        return 0;
    }
    const ByteView inside = host.bytes().subspan(1, close - 1);
    return has_colon(inside) && is_of_host(host, inside, true) ? close + 1 : 0;
}

ByteView without_dot(ByteView name) noexcept {
    return name.size() > 1 && name.back() == kDot ? name.first(name.size() - 1) : name;
}

// Without port and dot; absent: it is no host.
ByteView host_part(const ReadableText& host) noexcept {
    const ByteView sent = host.bytes();
    const bool is_literal = !sent.empty() && sent.front() == std::byte{'['};
    const std::size_t size = is_literal ? literal_size(host) : find_byte(host, 0, ':');
    const ByteView name = sent.first(size);
    const ByteView port = sent.subspan(size);
    const bool has_bad_port =
        !port.empty() && (port.front() != kColon || !is_port(port.subspan(1)));
    if (has_bad_port || (is_literal ? name.empty() : !is_of_host(host, name, false))) {
        return {};
    }
    const ByteView form = is_literal ? name : without_dot(name);
    const bool is_odd = !is_literal && (is_odd_address(host.with(form)) || has_odd_label(form));
    return is_odd ? ByteView{} : form;
}

// A name in brackets, which Apache takes off and others refuse; absent: it is none.
ByteView bracketed_name(const ReadableText& host) noexcept {
    const ByteView sent = host.bytes();
    const std::size_t close = find_byte(host, 0, ']');
    if (sent.empty() || sent.front() != std::byte{'['} || close == host.size() || close < 2) {
        return {};
    }
    const ByteView name = sent.subspan(1, close - 1);
    const ByteView port = sent.subspan(close + 1);
    const bool ends = port.empty() || (port.front() == kColon && is_port(port.subspan(1)));
    return ends && is_of_host(host, name, false) ? without_dot(name) : ByteView{};
}

std::uint32_t upper_mask(Block block) noexcept {
    return at_most_mask(_mm256_sub_epi8(block, _mm256_set1_epi8('A')), 'Z' - 'A');
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

ByteView normalise_host(const http1::ReadableText& host, MutableBytes room,
                        HeadShapes& shapes) noexcept {
    const std::size_t plain = http1::plain_size(host);
    if (plain != 0) [[likely]] {
        return host.bytes().first(plain);
    }
    ByteView part = http1::host_part(host);
    if (!http1::is_present(part) && http1::is_present(host.bytes())) {
        shapes.add(HeadShape::BadHost);
        part = http1::bracketed_name(host);
        part = http1::is_present(part) ? part : host.bytes();
    }
    if (http1::find_byte(host.with(part), 0, http1::upper_mask) == part.size()) {
        return part;
    }
    const std::size_t size = std::min(part.size(), room.size());
    shapes.add_if(size < part.size(), HeadShape::BadHost);
    std::transform(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size), room.begin(),
                   http1::to_lower);
    return room.first(size);
}

}  // namespace sluice
