#pragma once
#include "lib/l7/tls/client_hello.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

// JA4, the fingerprint of a TLS client, as FoxIO's text defines it (technical_details/JA4.md of
// github.com/FoxIO-LLC/ja4; JA4 itself is under the BSD licence, the other methods of JA4+ are not
// and are not here).
//
//   t13d1516h2_8daaf6152771_e5627efa2ab1
//   t           over TCP; q: QUIC
//    13         the highest version; an unknown one is 00
//      d        with a server_name; i: without
//       15 16   cipher suites, extensions, at most 99
//           h2  first and last character of the first ALPN protocol
//   SHA-256 of the sorted cipher suites, and of the sorted extensions (without server_name and
//   ALPN) with the signature algorithms as they came, twelve digits of each
//
// GREASE counts nowhere.
namespace sluice {

enum class HelloCarrier : char { Tcp = 't', Quic = 'q' };

struct Ja4 {
    std::array<char, 36> characters;
    [[nodiscard]] std::string_view text() const noexcept {
        return {characters.data(), characters.size()};
    }
};

// More cipher suites, extensions or signature algorithms than this are not sorted: no client offers
// them, and the time for one hello stays bounded.
inline constexpr std::size_t kMaxJa4Values = 256;

// nullopt: the hello has more than kMaxJa4Values of something. Some microseconds: only where
// somebody asks.
[[nodiscard]] std::optional<Ja4> make_ja4(const ClientHello& hello, HelloCarrier carrier) noexcept;

}  // namespace sluice
