#pragma once
#include "lib/match/address_table.hpp"
#include "lib/packet/header_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Addresses, compiled: what crosses the wire. Row 1 of a step is inside, row 0 outside.
struct AddressSetParts {
    std::vector<Step<std::uint64_t>> steps;  // of IPv4 addresses
    std::vector<Step<Wide>> v6_steps;

    [[nodiscard]] bool operator==(const AddressSetParts&) const noexcept = default;
};

// Two for each network of a list, whose entries have this bound.
inline constexpr std::size_t kMaxAddressSteps = std::size_t{1} << 21;

[[nodiscard]] bool are_sound(const AddressSetParts& parts);

// Immutable.
class AddressSet {
public:
    // The parts are sound.
    explicit AddressSet(AddressSetParts parts);

    [[nodiscard]] bool has(const VersionedAddress& address) const noexcept;
    // The rows, of these which all have an IP header, whose source is inside.
    [[nodiscard]] RowMask sources(const HeaderColumns& columns, RowMask rows) const noexcept;

private:
    AddressSetParts parts_;
    AddressTables tables_;
};

}  // namespace sluice
