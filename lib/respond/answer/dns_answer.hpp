#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

enum class DnsAnswer : std::uint8_t {
    Truncated,  // TC=1: the client repeats the query over TCP (RFC 7766, 5)
    Refused,    // RCODE 5
    Empty,      // NOERROR without records
};

// An answer to a query of one question, which it repeats as it came (RFC 1035, 4.1): never larger
// than the query, so that nobody gains by a forged source address. A query with an OPT record gets
// one too (RFC 6891, 6.1.1), with its COOKIE option as it came, so that its client takes the answer
// (RFC 7873, 5.3): the box makes no server's part of its own, and one that the client has is its
// server's. BADVERS for a version other than 0; FORMERR for two OPT records, and for options or a
// cookie of a length that there is not (RFC 7873, 5.2.2). Returns its size; 0: it is no such query,
// or the name of its question is compressed. `to` has the query's size.
[[nodiscard]] std::size_t write_dns_answer(ByteView query, DnsAnswer answer,
                                           MutableBytes to) noexcept;

}  // namespace sluice
