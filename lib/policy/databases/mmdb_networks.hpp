#pragma once
#include "lib/base/result.hpp"
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The values that are looked for in the records of a database.
enum class DatabaseKind : std::uint8_t { Country, Asn };

// The values that a database has for all addresses, in order.
struct DatabaseNetworks {
    // Rows are country numbers (see country.hpp) or AS numbers; 0: none. Neighbours differ.
    std::vector<Step<std::uint64_t>> steps;  // of IPv4 addresses
    std::vector<Step<Wide>> v6_steps;
    std::string type;            // as the file calls itself: "GeoLite2-Country"
    std::uint64_t built_at = 0;  // UTC, seconds
};

// Reads a database in MaxMind's format (MMDB) with libmaxminddb, in this process; its tree is
// walked once. Of a country, `country.iso_code`: where a record has only `registered_country`
// (where a network is registered, not where it is), or a code that is not two capital letters,
// there is none. Of an autonomous system, `autonomous_system_number`. IPv4 networks are those under
// ::/96; where the tree leads to them once more (::ffff:0:0/96, 2001::/32, 2002::/16), IPv6
// addresses have none. BadSyntax: the file is broken, or holds no such thing. TooMany: it holds
// more than can be.
[[nodiscard]] Result<DatabaseNetworks> read_mmdb_here(std::string_view bytes, DatabaseKind kind);

}  // namespace sluice
