#include "lib/l7/http1/host.hpp"

#include "lib/l7/http1/texts.hpp"
#include "lib/packet/ip_address.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

bool is_name(const ReadableText& host, ByteView text) noexcept {
    // Most have letters, digits, - and . alone.
    const std::size_t plain = find_byte(
        host.with(text), 0, [](Block block) { return not_plain_mask(lower_block(block)); });
    text = text.subspan(plain);
    return std::all_of(text.begin(), text.end(),
                       [](std::byte byte) { return is(byte, kHostByte); });
}

// A port may stand behind a host, or nothing.
bool is_port_part(ByteView port) noexcept {
    return port.empty() || (port.front() == kColon && is_port(port.subspan(1)));
}

ByteView without_dot(ByteView name) noexcept {
    return name.size() > 1 && name.back() == kDot ? name.first(name.size() - 1) : name;
}

// A name without port and dot; absent: it is none.
ByteView name_part(const ReadableText& host) noexcept {
    const ByteView sent = host.bytes();
    const std::size_t size = find_byte(host, 0, ':');
    const ByteView name = without_dot(sent.first(size));
    const bool is_one = is_port_part(sent.subspan(size)) && is_name(host, name) &&
                        !is_odd_address(host.with(name)) && !has_odd_label(name);
    return is_one ? name : ByteView{};
}

std::uint32_t upper_mask(Block block) noexcept {
    return at_most_mask(_mm256_sub_epi8(block, _mm256_set1_epi8('A')), 'Z' - 'A');
}

// A part in lower case, cut where the room ends.
ByteView lowered(ByteView part, const ReadableText& host, MutableBytes room,
                 HeadShapes& shapes) noexcept {
    if (find_byte(host.with(part), 0, upper_mask) == part.size()) {
        return part;
    }
    const std::size_t size = std::min(part.size(), room.size());
    shapes.add_if(size < part.size(), HeadShape::BadHost);
    std::transform(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size), room.begin(),
                   to_lower);
    return room.first(size);
}

// An address as its one text, in the brackets that it was sent in.
ByteView normal_literal(ByteView sent, const VersionedAddress& address, MutableBytes room,
                        HeadShapes& shapes) noexcept {
    std::array<char, kMaxAddressText + 1> written;
    const std::string_view text = write_text(address.version, address.address, written);
    const std::size_t size = text.size() + 2;
    shapes.add_if(size > room.size(), HeadShape::BadHost);
    if (size > room.size() || as_text(sent.subspan(1, sent.size() - 2)) == text) {
        return sent;
    }
    std::copy(bytes_of(text).begin(), bytes_of(text).end(), room.begin() + 1);
    room[0] = sent.front();
    room[size - 1] = sent.back();
    return room.first(size);
}

// An address in brackets. Apache takes them off a name, too, and others refuse it.
[[gnu::cold, gnu::noinline]] ByteView normalise_literal(const ReadableText& host, MutableBytes room,
                                                        HeadShapes& shapes) noexcept {
    const ByteView sent = host.bytes();
    const std::size_t close = find_byte(host, 0, ']');
    const bool ends = close != sent.size() && is_port_part(sent.subspan(close + 1));
    const ByteView inside = sent.subspan(1, close - 1);
    const std::optional<VersionedAddress> address =
        ends ? parse_address(as_text(inside)) : std::nullopt;
    if (address && address->version == IpVersion::V6) {
        return normal_literal(sent.first(close + 1), *address, room, shapes);
    }
    shapes.add(HeadShape::BadHost);
    const bool has_name = ends && !inside.empty() && is_name(host, inside);
    return lowered(has_name ? without_dot(inside) : sent, host, room, shapes);
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
    if (host.size() != 0 && host.bytes().front() == std::byte{'['}) {
        return http1::normalise_literal(host, room, shapes);
    }
    const ByteView name = http1::name_part(host);
    const bool is_one = http1::is_present(name) || !http1::is_present(host.bytes());
    shapes.add_if(!is_one, HeadShape::BadHost);
    return http1::lowered(is_one ? name : host.bytes(), host, room, shapes);
}

}  // namespace sluice
