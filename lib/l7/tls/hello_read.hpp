#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The outcome of looking for a ClientHello.
enum class HelloOutcome : std::uint8_t {
    Whole,
    NeedMore,
    NotTls,
    OtherHandshake,
    Malformed,
};

// Doubts about servers that get a hello with some fault.
enum class HelloDoubt : std::uint8_t {
    None,
    NoServer,     // OpenSSL, GnuTLS and NSS all answer it by an alert
    SomeServers,  // one of them goes on, and what it reads is not read here
    Size,         // it is longer than what is read
    Pieces,       // it is in more records than are put together
};

// Why a hello is not read.
enum class HelloFault : std::uint8_t {
    None,
    TooLong,
    BadRecord,
    TooManyRecords,
    Sslv2Framing,
    BadVersion,
    Truncated,
    BadCipherSuites,
    BadCompression,
    BadExtensions,
    RepeatedExtension,
    BadServerName,
    BadAlpn,
    BadSupportedVersions,
    BadSignatureAlgorithms,
};

struct HelloFaultRow {
    HelloFault fault;
    HelloDoubt doubt;
    std::string_view name;
    std::string_view help;
};
inline constexpr auto kHelloFaults = std::to_array<HelloFaultRow>({
    {HelloFault::None, HelloDoubt::None, "none", "well formed"},
    {HelloFault::TooLong, HelloDoubt::Size, "too_long", "a hello of more than 64 KiB"},
    {HelloFault::BadRecord, HelloDoubt::SomeServers, "bad_record",
     "another kind of record before the hello is whole"},
    {HelloFault::TooManyRecords, HelloDoubt::Pieces, "too_many_records",
     "a hello in too many records"},
    {HelloFault::Sslv2Framing, HelloDoubt::SomeServers, "sslv2_framing",
     "a hello in the framing of SSL 2.0 (RFC 5246, E.2)"},
    {HelloFault::BadVersion, HelloDoubt::NoServer, "bad_version", "a version before SSL 3.0"},
    {HelloFault::Truncated, HelloDoubt::NoServer, "truncated",
     "the message ends before its fields"},
    {HelloFault::BadCipherSuites, HelloDoubt::NoServer, "bad_cipher_suites", "no cipher suites"},
    {HelloFault::BadCompression, HelloDoubt::NoServer, "bad_compression", "no compression method"},
    {HelloFault::BadExtensions, HelloDoubt::NoServer, "bad_extensions",
     "extensions do not fill their block"},
    {HelloFault::RepeatedExtension, HelloDoubt::NoServer, "repeated_extension",
     "an extension that is read here stands there twice"},
    {HelloFault::BadServerName, HelloDoubt::SomeServers, "bad_server_name",
     "a server_name that servers read differently"},
    {HelloFault::BadAlpn, HelloDoubt::SomeServers, "bad_alpn", "protocols do not fill their list"},
    {HelloFault::BadSupportedVersions, HelloDoubt::NoServer, "bad_supported_versions",
     "no versions, or half of one"},
    {HelloFault::BadSignatureAlgorithms, HelloDoubt::NoServer, "bad_signature_algorithms",
     "none, or half of one"},
});
static_assert(in_enum_order(kHelloFaults, &HelloFaultRow::fault) &&
                  kHelloFaults.size() ==
                      static_cast<std::size_t>(HelloFault::BadSignatureAlgorithms) + 1,
              "kHelloFaults is indexed by HelloFault");

[[nodiscard]] constexpr HelloDoubt doubt_of(HelloFault fault) noexcept {
    return kHelloFaults[static_cast<std::size_t>(fault)].doubt;
}

struct HelloRead {
    HelloOutcome outcome = HelloOutcome::NotTls;
    HelloFault fault = HelloFault::None;
    std::uint8_t handshake_type = 0;  // once its byte is there
    // Whole: where the hello ends in the bytes that were read. NeedMore: of how many bytes from the
    // beginning on another look can have another outcome.
    std::uint32_t at = 0;
};

}  // namespace sluice
