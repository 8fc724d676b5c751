#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

inline constexpr std::uint16_t kTypeOpt = 41;
// RFC 6891, 6.1.3: the flags of an OPT record stand in its TTL, behind an extended RCODE and a
// version.
inline constexpr std::uint32_t kDnssecOk = 0x8000;

// The wishes of a query's OPT record (RFC 6891).
struct EdnsQuery {
    bool is_version_0 = true;
    bool dnssec_ok = false;
    // There are two OPT records, its options do not fit into it, or its COOKIE has no length that
    // there is.
    bool is_malformed = false;
    ByteView cookie;  // the first COOKIE option (RFC 7873), with its code and length
};

// The OPT record among the additional ones behind the question, which ends at `at`, wherever it
// stands: records are walked to the end of the message, and no name is followed beyond its own
// bytes, so that no query takes longer than its bytes. nullopt: there is none, or the records are
// not sound.
[[nodiscard]] std::optional<EdnsQuery> find_edns(ByteView query, std::size_t at) noexcept;

}  // namespace sluice
