#pragma once
#include "lib/l7/stream/unit_kind.hpp"
#include "lib/l7/stream/unit_source.hpp"

// Protocols that the rules at hand can tell apart at all: no other is looked for.
namespace sluice {

inline constexpr TextFieldSet kTextsOfAll{TextField::ProtoL7, TextField::ProtoScheme};
inline constexpr TextFieldSet kHttpTexts = [] {
    TextFieldSet texts{TextField::HttpMethod, TextField::HttpHost,  TextField::HttpUri,
                       TextField::HttpPath,   TextField::HttpQuery, TextField::HttpUserAgent,
                       TextField::HttpReferer};
    for (std::size_t i = 0; i < kMaxNamedTexts; ++i) {
        texts.add(named_text(i));
    }
    texts.add(kClientHeader);
    return texts;
}();
inline constexpr TextFieldSet kDnsTexts{TextField::DnsQr, TextField::DnsQname, TextField::DnsQtype};
inline constexpr TextFieldSet kTlsTexts{TextField::TlsHandshakeType, TextField::TlsSni,
                                        TextField::TlsAlpn, TextField::TlsJa4};
inline constexpr TextFieldSet kQuicTexts{TextField::QuicPacketType, TextField::QuicVersion,
                                         TextField::QuicTokenLen,   TextField::QuicSni,
                                         TextField::TlsAlpn,        TextField::TlsJa4};

// True if a rule reads a text of such units alone, or counts them: what their parsers make of them
// matters. `reading` is a UnitSource or UnitColumns.
template <typename Reading>
[[nodiscard]] bool reads(const Reading& reading, TextFieldSet texts, Per unit) noexcept {
    return reading.counted.has(unit) || reading.wanted.meets(texts);
}
[[nodiscard]] inline bool reads_requests(const UnitSource& packet) noexcept {
    return reads(packet, kHttpTexts, Per::Request);
}
[[nodiscard]] inline bool reads_tls_hellos(const UnitSource& packet) noexcept {
    return reads(packet, kTlsTexts, Per::Handshake);
}

// The same, or what protocol it is.
template <typename Reading>
[[nodiscard]] bool wants(const Reading& reading, TextFieldSet texts, Per unit) noexcept {
    return reads(reading, texts, unit) || reading.wanted.meets(kTextsOfAll);
}
template <typename Reading>
[[nodiscard]] bool wants_http(const Reading& reading) noexcept {
    return wants(reading, kHttpTexts, Per::Request);
}
template <typename Reading>
[[nodiscard]] bool wants_dns(const Reading& reading) noexcept {
    return wants(reading, kDnsTexts, Per::Query);
}
template <typename Reading>
[[nodiscard]] bool wants_tls(const Reading& reading) noexcept {
    return wants(reading, kTlsTexts, Per::Handshake);
}
template <typename Reading>
[[nodiscard]] bool wants_quic(const Reading& reading) noexcept {
    return wants(reading, kQuicTexts, Per::Handshake);
}

}  // namespace sluice
