#pragma once
#include "lib/base/wide.hpp"
#include "lib/packet/field.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/policy/expression/expression.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

struct WideRange {
    Wide first = 0;
    Wide last = 0;  // inclusive

    [[nodiscard]] bool operator==(const WideRange&) const noexcept = default;
};

// A clause's condition on one field: the packet's value there, or its absence, is in this set.
// Ranges are sorted, disjoint and do not touch, so equal sets are spelled alike.
struct DomainSet {
    bool absent = false;             // a packet without the field is in the set
    std::vector<WideRange> numbers;  // or IPv4 addresses
    std::vector<WideRange> v6;

    [[nodiscard]] bool operator==(const DomainSet&) const noexcept = default;
    [[nodiscard]] bool empty() const noexcept { return !absent && numbers.empty() && v6.empty(); }
};

// The largest number, or IPv4 address, of a field.
[[nodiscard]] Wide largest(Field field) noexcept;

[[nodiscard]] DomainSet everything(Field field);
// The field whose value a leaf's set is about: its own, or ip.src in the place of client.ip.
[[nodiscard]] Field asked_field(const Leaf& leaf) noexcept;
// The values of asked_field(): for client.ip all source addresses of clients in the set.
[[nodiscard]] DomainSet set_of(const Leaf& leaf);
[[nodiscard]] bool contains(const DomainSet& set, const VersionedAddress& address) noexcept;
[[nodiscard]] DomainSet complement(Field field, const DomainSet& set);
[[nodiscard]] DomainSet intersection(const DomainSet& a, const DomainSet& b);
[[nodiscard]] DomainSet unite(const DomainSet& a, const DomainSet& b);

[[nodiscard]] std::size_t hash_of(const DomainSet& set) noexcept;

}  // namespace sluice
