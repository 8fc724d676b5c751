#include "lib/l7/http1/host.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>

namespace sluice::http1 {

namespace {

bool is_port(ByteView port) noexcept {
    constexpr std::size_t kMaxDigits = 5;
    return port.size() <= kMaxDigits && std::all_of(port.begin(), port.end(), is_digit);
}

// The bytes of an address in brackets, these included; 0: it is none.
std::size_t literal_size(ByteView host) noexcept {
    const std::size_t close = find_byte(host, 0, ']');
    if (close == host.size() || close < 2) {
        return 0;
    }
    const ByteView inside = host.subspan(1, close - 1);
    const bool is_literal = std::all_of(inside.begin(), inside.end(), [](std::byte byte) {
        return is(byte, kHostByte) || byte == kColon;
    });
    return is_literal ? close + 1 : 0;
}

// Without port and dot; an empty view of nothing: it is no host.
ByteView host_part(ByteView host) noexcept {
    const bool is_literal = !host.empty() && host.front() == std::byte{'['};
    const std::size_t size =
        is_literal ? literal_size(host)
                   : find_byte(host, 0, [](Block block) { return equal_mask(block, ':'); });
    const ByteView name = host.first(size);
    const ByteView port = host.subspan(size);
    if ((is_literal && name.empty()) ||
        (!port.empty() && (port.front() != kColon || !is_port(port.subspan(1))))) {
        return {};
    }
    if (is_literal) {
        return name;
    }
    if (!std::all_of(name.begin(), name.end(),
                     [](std::byte byte) { return is(byte, kHostByte); })) {
        return {};
    }
    return name.size() > 1 && name.back() == kDot ? name.first(name.size() - 1) : name;
}

std::uint32_t upper_mask(Block block) noexcept {
    const Block from_a = _mm256_sub_epi8(block, _mm256_set1_epi8('A'));
    return at_most_mask(from_a, 'Z' - 'A');
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

ByteView normalise_host(ByteView host, MutableBytes room, HeadShapes& shapes) noexcept {
    ByteView part = http1::host_part(host);
    if (!http1::is_present(part) && http1::is_present(host)) {
        shapes.add(HeadShape::BadHost);
        part = host;
    }
    if (http1::find_byte(part, 0, http1::upper_mask) == part.size()) {
        return part;
    }
    const std::size_t size = std::min(part.size(), room.size());
    shapes.add_if(size < part.size(), HeadShape::BadHost);
    std::transform(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size), room.begin(),
                   http1::to_lower);
    return room.first(size);
}

}  // namespace sluice
