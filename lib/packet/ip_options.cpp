#include "lib/packet/ip_options.hpp"

#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint8_t kNextHopByHop = 0;
constexpr std::uint8_t kNextFragment = 44;
constexpr std::uint8_t kNextDestination = 60;
constexpr std::size_t kEightBytes = 8;

bool is_zero(ByteView bytes) noexcept {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte one) { return one == std::byte{}; });
}

// Bytes of the option that options begin with; 0: it is not sound.
std::size_t size_of_ipv4_option(ByteView options) noexcept {
    constexpr std::uint8_t kNoOperation = 1;
    if (load_u8(options, 0) == kNoOperation) {
        return 1;
    }
    const std::size_t size = options.size() < 2 ? 0 : load_u8(options, 1);
    return size >= 2 && size <= options.size() ? size : 0;
}

bool are_taken_of_ipv4(ByteView options) noexcept {
    constexpr std::uint8_t kEndOfOptions = 0;
    constexpr std::uint8_t kRouterAlert = 148;
    constexpr std::size_t kRouterAlertSize = 4;
    while (!options.empty() && load_u8(options, 0) != kEndOfOptions) {
        const std::size_t size = size_of_ipv4_option(options);
        const bool is_taken =
            size == 1 || (load_u8(options, 0) == kRouterAlert && size == kRouterAlertSize);
        if (!is_taken) {
            return false;
        }
        options = options.subspan(size);
    }
    return true;
}

// Options of a header for Hop-by-Hop or Destination Options (RFC 8200, 4.2). Linux drops a packet
// for more than seven bytes of padding in a row, and for any that is not zero.
bool are_taken_of_ipv6(ByteView options, bool may_alert) noexcept {
    constexpr std::uint8_t kPadOne = 0;
    constexpr std::uint8_t kPad = 1;
    constexpr std::uint8_t kRouterAlert = 5;
    constexpr std::size_t kMostPadding = 7;
    std::size_t padding = 0;
    while (!options.empty()) {
        const std::uint8_t kind = load_u8(options, 0);
        const std::size_t size = kind == kPadOne      ? 1
                                 : options.size() < 2 ? 0
                                                      : std::size_t{load_u8(options, 1)} + 2;
        if (size == 0 || size > options.size()) {
            return false;
        }
        if (kind == kPadOne || (kind == kPad && is_zero(options.subspan(2, size - 2)))) {
            padding += size;
        } else if (kind == kRouterAlert && size == 4 && may_alert) {
            padding = 0;
            may_alert = false;
        } else {
            return false;
        }
        if (padding > kMostPadding) {
            return false;
        }
        options = options.subspan(size);
    }
    return true;
}

// Headers behind IPv6's own, of which the first is of this kind. What they belong to begins where
// the transport header does, or behind a Fragment header of a later fragment.
bool are_taken_extensions(ByteView headers, std::uint8_t kind, Fragment frag) noexcept {
    bool is_first = true;
    bool has_fragment = false;
    while (headers.size() >= kEightBytes) {
        const bool is_fragment = kind == kNextFragment;
        const bool has_options = kind == kNextDestination || (kind == kNextHopByHop && is_first);
        if (!has_options && (!is_fragment || has_fragment)) {
            return false;
        }
        const std::size_t size =
            is_fragment ? kEightBytes : (std::size_t{load_u8(headers, 1)} + 1) * kEightBytes;
        if (size > headers.size()) {
            return true;  // it is not all at hand
        }
        if (has_options &&
            !are_taken_of_ipv6(headers.subspan(2, size - 2), kind == kNextHopByHop)) {
            return false;
        }
        if (is_fragment && frag == Fragment::Later) {
            return true;
        }
        has_fragment = has_fragment || is_fragment;
        is_first = false;
        kind = load_u8(headers, 0);
        headers = headers.subspan(size);
    }
    return true;
}

// The bytes between two places, as far as they are at hand.
ByteView between(ByteView frame, std::size_t from, std::size_t to) noexcept {
    const std::size_t begin = std::min(from, frame.size());
    return frame.subspan(begin, std::max(begin, std::min(to, frame.size())) - begin);
}

}  // namespace

bool is_taken_by_hosts(const PacketHeaders& headers, ByteView frame) noexcept {
    constexpr std::size_t kNextAt = 6;
    const std::size_t at = headers.l3_at;
    if (headers.ip_version != IpVersion::V6) {
        const std::size_t size = at < frame.size() ? (load_u8(frame, at) & 0xFU) * 4U : 0;
        return are_taken_of_ipv4(between(frame, at + kIpv4MinSize, at + size));
    }
    const std::size_t end = headers.frag == Fragment::Later ? frame.size() : headers.l4_at;
    return at + kIpv6Size > frame.size() ||
           are_taken_extensions(between(frame, at + kIpv6Size, end), load_u8(frame, at + kNextAt),
                                headers.frag);
}

}  // namespace sluice
