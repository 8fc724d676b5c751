#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

// Fills the columns of headers.
void parse_burst(Burst& burst, const CoreState& core) noexcept;

// Adds to each row that is not malformed what its addresses say: the countries and ASNs that rules
// ask for, and client.ip where proxies name clients.
void fill_geo(Burst& burst, const GeoTable& origins) noexcept;
void fill_clients(Burst& burst, const ProxiedClients& clients) noexcept;
inline void geo_burst(Burst& burst, const LoadedSet& set) noexcept {
    if (set.geo_table != nullptr) [[unlikely]] {
        fill_geo(burst, *set.geo_table);
    }
    if (set.proxied_clients != nullptr) [[unlikely]] {
        fill_clients(burst, *set.proxied_clients);
    }
}

// The burst as a parser of units is told of it.
[[nodiscard]] UnitColumns unit_columns_of(const Burst& burst, const LoadedSet& set,
                                          const CoreState& core, Instant now) noexcept;
// Finds the units of later layers that the packets of these rows complete, all of them well-formed
// and possible, where a parser of such units is plugged in (Burst::find_units_by()). match_burst()
// asks for them where they can still change something.
void find_units(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core,
                Instant now) noexcept;

// Finds the rules that match, and decides what that alone decides: malformed packets, and those of
// enforcing rules with on_match. On the way, units of later layers are found. A burst without
// packets tells the worker which services there are.
void match_burst(Burst& burst, const LoadedSet& set, const CoreState& core, Instant now) noexcept;

// Hashes the keys of all matching rules, lists each packet's buckets and prefetches their first
// lines.
void key_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept;

// Looks into those lines, and prefetches the second line of each key that is not there, and what
// else the states of those that are lie in.
void locate_burst(Burst& burst, const CoreState& core) noexcept;

// The same for keys in second lines, which have come meanwhile.
void locate_second(Burst& burst, const CoreState& core) noexcept;

// Packet by packet, in arrival order: checks all limits of all matching rules, decides, charges.
void meter_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

}  // namespace sluice
