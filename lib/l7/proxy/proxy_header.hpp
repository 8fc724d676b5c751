#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/ip_address.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The header that a proxy writes before the first byte of a connection it makes for a client: the
// PROXY protocol of HAProxy, version 1 (a line of text) or 2 (binary).
enum class ProxyStatus : std::uint8_t {
    NeedMore,   // could still become any of the others
    Complete,   // `size` bytes; the client's stream begins behind them
    NotProxy,   // begins as neither version does
    Malformed,  // begins as one, and no header follows: `fault`
};

// Facts of a header about its client.
enum class ProxyClient : std::uint8_t {
    Named,    // `client`, `port`
    Local,    // the proxy asks for itself, as for a health check (version 2)
    Unknown,  // UNKNOWN, AF_UNSPEC or AF_UNIX: it has no address
};

enum class ProxyFault : std::uint8_t {
    None,
    NoLineEnd,    // version 1: no CR LF within kMaxProxyLine
    BadLine,      // version 1: another layout, or an address or a port that is none
    BadVersion,   // version 2: another version or command
    BadFamily,    // version 2: a family or a protocol that it does not have
    TooShort,     // version 2: addresses that its family has do not fit
    BeyondLimit,  // version 2: longer than kMaxProxyHeader
};
inline constexpr auto kProxyFaultNames = std::to_array<std::string_view>(
    {"none", "no_line_end", "bad_line", "bad_version", "bad_family", "too_short", "beyond_limit"});

// The longest header of version 1, CR LF included (section 2.1 of its text).
inline constexpr std::size_t kMaxProxyLine = 107;
// The longest header of version 2, vectors of type, length and value included: nginx has room for
// it.
inline constexpr std::size_t kMaxProxyHeader = 4096;

struct ProxyHeader {
    ProxyStatus status = ProxyStatus::NeedMore;
    ProxyClient kind = ProxyClient::Unknown;
    ProxyFault fault = ProxyFault::None;
    std::uint8_t version = 0;   // 1 or 2
    std::size_t size = 0;       // of Complete
    std::size_t need = 0;       // of NeedMore: another look is worth it with so many bytes
    VersionedAddress client{};  // of Named, as named_client() has it
    std::uint16_t port = 0;
};

// `so_far`: all bytes of the connection that have come. The answer does not depend on the pieces:
// NeedMore for every shorter beginning, and the same for every longer one.
[[nodiscard]] ProxyHeader read_proxy_header(ByteView so_far) noexcept;

}  // namespace sluice
