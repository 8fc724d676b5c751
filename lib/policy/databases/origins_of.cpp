#include "lib/policy/databases/origins_of.hpp"

#include <string>
#include <unordered_map>

namespace sluice {
namespace {

// Gives each different origin a row.
class Rows {
public:
    explicit Rows(std::vector<GeoOrigin>& origins) : origins_{origins} {}

    std::uint32_t row_of(const GeoOrigin& origin) {
        const std::uint64_t key = std::uint64_t{origin.country} << 32 | origin.asn;
        const auto [at, fresh] = rows_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
        if (fresh) {
            origins_.push_back(origin);
        }
        return at->second;
    }

private:
    std::vector<GeoOrigin>& origins_;
    std::unordered_map<std::uint64_t, std::uint32_t> rows_;
};

template <typename Key>
using Steps = std::vector<Step<Key>>;

// Both sorted from 0 on: a step wherever one of them has one.
template <typename Key>
void merge(const Steps<Key>& countries, const Steps<Key>& systems, Rows& rows, Steps<Key>& merged) {
    std::size_t country = 0;
    std::size_t system = 0;
    for (Key first = 0;;) {
        const std::uint32_t row = rows.row_of({systems[system].row, countries[country].row});
        if (merged.empty() || merged.back().row != row) {
            merged.push_back({first, row});
        }
        const bool more_countries = country + 1 < countries.size();
        const bool more_systems = system + 1 < systems.size();
        if (!more_countries && !more_systems) {
            return;
        }
        const bool next_is_country =
            more_countries &&
            (!more_systems || countries[country + 1].first <= systems[system + 1].first);
        const bool next_is_system =
            more_systems &&
            (!more_countries || systems[system + 1].first <= countries[country + 1].first);
        first = next_is_country ? countries[country + 1].first : systems[system + 1].first;
        country += next_is_country ? 1 : 0;
        system += next_is_system ? 1 : 0;
    }
}

const DatabaseNetworks& nothing() {
    static const DatabaseNetworks none{
        .steps = {{0, 0}}, .v6_steps = {{0, 0}}, .type = {}, .built_at = 0};
    return none;
}

}  // namespace

Result<GeoParts> origins_of(const DatabaseNetworks* countries, const DatabaseNetworks* systems) {
    const DatabaseNetworks& country = countries != nullptr ? *countries : nothing();
    const DatabaseNetworks& system = systems != nullptr ? *systems : nothing();
    GeoParts parts;
    Rows rows{parts.origins};
    merge(country.steps, system.steps, rows, parts.steps);
    merge(country.v6_steps, system.v6_steps, rows, parts.v6_steps);
    if (parts.steps.size() > kMaxOriginSteps || parts.v6_steps.size() > kMaxWideOriginSteps ||
        parts.origins.size() > kMaxOrigins) {
        return Error{Errc::TooMany,
                     "country_db and asn_db have more networks together than can be "
                     "held (" +
                         std::to_string(kMaxOriginSteps) + ")"};
    }
    return parts;
}

}  // namespace sluice
