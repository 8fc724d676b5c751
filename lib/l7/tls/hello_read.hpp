#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// What looking for a ClientHello led to.
enum class HelloOutcome : std::uint8_t {
    Whole,
    NeedMore,
    NotTls,
    OtherHandshake,
    Malformed,
};

// Why a hello is malformed.
enum class HelloFault : std::uint8_t {
    None,
    TooLong,
    EmptyRecord,
    BadRecord,
    TooManyRecords,
    BadVersion,
    Truncated,
    BadSessionId,
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
    std::string_view name;
    std::string_view help;
};
inline constexpr auto kHelloFaults = std::to_array<HelloFaultRow>({
    {HelloFault::None, "none", "well formed"},
    {HelloFault::TooLong, "too_long", "a hello longer than there is room for"},
    {HelloFault::EmptyRecord, "empty_record", "a record of no bytes (RFC 8446, 5.1)"},
    {HelloFault::BadRecord, "bad_record", "another kind of record before the hello is whole"},
    {HelloFault::TooManyRecords, "too_many_records", "a hello in too many records"},
    {HelloFault::BadVersion, "bad_version", "a version before SSL 3.0"},
    {HelloFault::Truncated, "truncated", "the message ends before its fields"},
    {HelloFault::BadSessionId, "bad_session_id", "a session id of more than 32 bytes"},
    {HelloFault::BadCipherSuites, "bad_cipher_suites", "no cipher suites, or half of one"},
    {HelloFault::BadCompression, "bad_compression", "no compression method"},
    {HelloFault::BadExtensions, "bad_extensions", "extensions do not fill their block"},
    {HelloFault::RepeatedExtension, "repeated_extension", "an extension that stands there twice"},
    {HelloFault::BadServerName, "bad_server_name", "a server_name that no server accepts"},
    {HelloFault::BadAlpn, "bad_alpn", "protocols do not fill their list"},
    {HelloFault::BadSupportedVersions, "bad_supported_versions", "no versions, or half of one"},
    {HelloFault::BadSignatureAlgorithms, "bad_signature_algorithms", "none, or half of one"},
});
static_assert(in_enum_order(kHelloFaults, &HelloFaultRow::fault) &&
                  kHelloFaults.size() ==
                      static_cast<std::size_t>(HelloFault::BadSignatureAlgorithms) + 1,
              "kHelloFaults is indexed by HelloFault");

struct HelloRead {
    HelloOutcome outcome = HelloOutcome::NotTls;
    HelloFault fault = HelloFault::None;
    std::uint8_t handshake_type = 0;  // once its byte is there
    // Whole: where the hello ends in the bytes that were read. NeedMore: of how many bytes from the
    // beginning on another look can have another outcome.
    std::uint32_t at = 0;
};

}  // namespace sluice
