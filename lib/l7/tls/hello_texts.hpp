#pragma once
#include "lib/l7/stream/unit_sink.hpp"
#include "lib/l7/stream/unit_source.hpp"
#include "lib/l7/stream/unit_text.hpp"
#include "lib/l7/tls/client_hello.hpp"
#include "lib/l7/tls/ja4.hpp"

// Texts of a ClientHello, alike over TCP and over QUIC.
namespace sluice {

// proto.scheme of both.
inline constexpr ConstantText kHttps{"https"};

// The server's name, tls.sni over TCP and quic.sni over QUIC; tls.alpn, the first protocol; and
// tls.ja4 where a rule reads it, which is absent for a hello of more values than are sorted.
void set_hello_texts(const ClientHello& hello, HelloCarrier carrier, const UnitSource& packet,
                     UnitSink& units, UnitTexts& texts) noexcept;

// The server that a hello asks for: a digest of 31 bits of the contents of server_name and of ALPN,
// as they came. A client that answers a HelloRetryRequest changes neither (RFC 8446, 4.1.2), and
// servers go by the second.
[[nodiscard]] std::uint32_t asked_server(const ClientHello& hello, const KeyHasher& hash) noexcept;

// Counts why a hello is not read; of an enforced service refuse_hello() drops its packet as well.
void count_fault(HelloFault fault, UnitSink& units) noexcept;
void refuse_hello(HelloFault fault, UnitSink& units) noexcept;
[[nodiscard]] Reason reason_of(HelloFault fault) noexcept;

}  // namespace sluice
