#pragma once
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"
#include "lib/packet/field.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

// The origins of addresses, compiled from the databases of a rule file: what crosses the wire, and
// what a GeoTable is made from.
namespace sluice {

// The origin that the databases have for an address.
struct GeoOrigin {
    std::uint32_t asn = 0;      // autonomous system number; 0: none (RFC 7607)
    std::uint32_t country = 0;  // country_number(); 0: none

    [[nodiscard]] constexpr bool operator==(const GeoOrigin&) const noexcept = default;
};

// The rows of the steps stand in `origins`.
struct GeoParts {
    FieldSet asked;                          // fields from databases that a rule tests or groups by
    std::vector<Step<std::uint64_t>> steps;  // of IPv4 addresses
    std::vector<Step<Wide>> v6_steps;
    std::vector<GeoOrigin> origins;

    [[nodiscard]] bool operator==(const GeoParts&) const noexcept = default;
};

// Bounds on the tables that are built from a message: four times the networks that the largest
// databases of countries and autonomous systems have today.
inline constexpr std::size_t kMaxOriginSteps = std::size_t{1} << 22;
inline constexpr std::size_t kMaxWideOriginSteps = std::size_t{1} << 21;
inline constexpr std::size_t kMaxOrigins = std::size_t{1} << 20;

// True if every row lies inside, every order holds, and the tables are within their bounds.
[[nodiscard]] bool are_sound(const GeoParts& parts);

}  // namespace sluice
