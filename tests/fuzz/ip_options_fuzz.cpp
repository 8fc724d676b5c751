#include "lib/packet/ip_options.hpp"
#include "lib/packet/parse.hpp"
#include "tests/fuzz/input.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace sluice;
using test::FuzzInput;
using test::require;

using Octets = std::vector<std::byte>;

constexpr std::size_t kEthernet = 14;
constexpr std::uint8_t kUdp = 17;

void put(Octets& out, std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) {
        out.push_back(static_cast<std::byte>(byte));
    }
}

// The verdict on a frame, in a buffer of its own size, so that a read beyond it is seen.
bool is_taken(const Octets& frame, const PacketHeaders& headers) {
    const Octets held(frame.begin(), frame.end());
    return is_taken_by_hosts(headers, held);
}

// Whatever a frame is, and however much of it is at hand.
void check_any(ByteView frame, std::size_t held) {
    PacketHeaders headers;
    if (is_malformed(
            parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, Tunnels{}, headers)) ||
        headers.ip_version == IpVersion::None) {
        return;
    }
    const ByteView head = frame.first(std::min(held, frame.size()));
    (void)is_taken({head.begin(), head.end()}, headers);
    // Bytes behind the transport header's beginning say nothing.
    if (headers.frag != Fragment::Later) {
        const Octets whole(frame.begin(), frame.end());
        Octets other = whole;
        std::for_each(other.begin() + headers.l4_at, other.end(),
                      [](std::byte& one) { one = ~one; });
        require(is_taken(whole, headers) == is_taken(other, headers));
    }
}

// An IPv4 packet of UDP with these options, a multiple of four bytes and forty at most.
Octets with_options(ByteView options) {
    Octets out(12);
    put(out, {8, 0, 0x40U | static_cast<unsigned>(5 + options.size() / 4), 0, 0,
              static_cast<unsigned>(28 + options.size()), 0, 0, 0, 0, 64, kUdp, 0, 0});
    put(out, {192, 0, 2, 1, 198, 51, 100, 1});
    out.insert(out.end(), options.begin(), options.end());
    put(out, {0, 1, 0, 2, 0, 8, 0, 0});
    return out;
}

// The same verdict as that of a grammar read from its end: from each place on, options are sound if
// they end there, are padding before sound ones, or router alert before sound ones.
bool is_sound(ByteView options) {
    std::vector<bool> sound(options.size() + 1);
    sound[options.size()] = true;
    for (std::size_t at = options.size(); at-- > 0;) {
        const unsigned kind = load_u8(options, at);
        const bool is_alert =
            kind == 148 && at + 4 <= options.size() && load_u8(options, at + 1) == 4;
        sound[at] = kind == 0 || (kind == 1 && sound[at + 1]) || (is_alert && sound[at + 4]);
    }
    return sound[0];
}

void check_ipv4(ByteView options) {
    const Octets frame = with_options(options);
    PacketHeaders headers;
    require(parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, Tunnels{}, headers) ==
            Parsed::Ok);
    require(headers.l4_at == kEthernet + 20 + options.size());
    require(is_taken(frame, headers) == is_sound(options));
}

}  // namespace

// The first byte says how much of a frame is at hand; what follows is a frame, and options of IPv4.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input{data, data + size};
    const std::size_t held = input.byte() * std::size_t{2};
    const ByteView frame = input.bytes(size);
    check_any(frame, held);
    check_ipv4(frame.first(std::min<std::size_t>(frame.size(), 40) / 4 * 4));
    return 0;
}
