#include "lib/policy/clauses/domain_set.hpp"

#include "lib/match/address_key.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/policy/values/range_set.hpp"

#include <algorithm>

namespace sluice {
namespace {

using Ranges = std::vector<WideRange>;

constexpr Wide kLargestV6 = ~Wide{0};

bool has_addresses(Field field) noexcept {
    return row_of(field).kind == FieldKind::Address;
}

Ranges intersection(const Ranges& a, const Ranges& b) {
    Ranges both;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        const Wide first = std::max(i->first, j->first);
        const Wide last = std::min(i->last, j->last);
        if (first <= last) {
            both.push_back({first, last});
        }
        ++(i->last < j->last ? i : j);
    }
    return both;
}

Ranges unite(const Ranges& a, const Ranges& b) {
    Ranges sorted(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), sorted.begin(),
               [](const WideRange& x, const WideRange& y) { return x.first < y.first; });
    return merged(sorted);
}

// The part of the ranges that is made of whole networks whose last `free` bits are any.
Ranges whole_networks(const Ranges& ranges, unsigned free) {
    const Wide inside = free >= 128 ? kLargestV6 : (Wide{1} << free) - 1;
    Ranges whole;
    for (WideRange range : ranges) {
        if ((range.first & inside) != 0) {
            range.first |= inside;  // the last address of a network that is not all there
            if (range.first >= range.last) {
                continue;
            }
            ++range.first;
        }
        if ((range.last & inside) != inside) {
            range.last &= ~inside;
            if (range.last <= range.first) {
                continue;
            }
            --range.last;
        }
        whole.push_back(range);
    }
    return whole;
}

// The addresses seen on the wire from clients in these networks: those of IPv4 also as they stand
// inside IPv6, and what stands there is no address of IPv6.
DomainSet sources_of(const DomainSet& clients, const ClientView& view) {
    DomainSet sources{.absent = clients.absent,
                      .numbers = whole_networks(clients.numbers, kV4Bits - view.v4_length),
                      .v6 = whole_networks(clients.v6, kV6Bits - view.v6_length)};
    for (const WrappingRow& row : kWrappings) {
        if (!view.unwrapping.has(row.wrapping)) {
            continue;
        }
        const Wide base = v6_key(row.prefix);
        Ranges inside;
        for (const WideRange& range : sources.numbers) {
            inside.push_back({base + range.first, base + range.last});
        }
        const Ranges outside = complement(Ranges{{base, base + UINT32_MAX}}, kLargestV6);
        sources.v6 = unite(intersection(sources.v6, outside), inside);
    }
    return sources;
}

Ranges keys_of(const std::vector<AddressRange>& addresses, IpVersion version) {
    Ranges ranges;
    ranges.reserve(addresses.size());
    for (const AddressRange& range : addresses) {
        ranges.push_back({wide_key(version, range.first), wide_key(version, range.last)});
    }
    return merged(ranges);
}

std::size_t mixed(std::size_t hash, Wide value) noexcept {
    for (const auto half :
         {static_cast<std::uint64_t>(value), static_cast<std::uint64_t>(value >> 64)}) {
        hash = (hash ^ half) * 0x9E37'79B9'7F4A'7C15;
        hash ^= hash >> 29;
    }
    return hash;
}

}  // namespace

Wide largest(Field field) noexcept {
    const unsigned bits = has_addresses(field) ? kV4Bits : key_bits(field);
    return (Wide{1} << bits) - 1;
}

DomainSet everything(Field field) {
    DomainSet set{.absent = true, .numbers = {{0, largest(field)}}, .v6 = {}};
    if (has_addresses(field)) {
        set.v6 = {{0, kLargestV6}};
    }
    return set;
}

Field asked_field(const Leaf& leaf) noexcept {
    return leaf.field == Field::ClientIp ? Field::IpSrc : leaf.field;
}

bool contains(const DomainSet& set, const VersionedAddress& address) noexcept {
    const Wide key = wide_key(address.version, address.address);
    const Ranges& ranges = address.version == IpVersion::V4 ? set.numbers : set.v6;
    return std::any_of(ranges.begin(), ranges.end(), [key](const WideRange& range) {
        return range.first <= key && key <= range.last;
    });
}

DomainSet set_of(const Leaf& leaf) {
    DomainSet set;
    if (!has_addresses(leaf.field)) {
        for (const NumberRange& range : leaf.numbers) {
            set.numbers.push_back({range.first, range.last});
        }
        set.numbers = merged(set.numbers);
        return set;
    }
    set.numbers = keys_of(leaf.v4, IpVersion::V4);
    set.v6 = keys_of(leaf.v6, IpVersion::V6);
    if (is_client(leaf.field)) {
        set = sources_of(set, leaf.client);
    }
    if (leaf.negated) {
        set = complement(leaf.field, set);
        set.absent = false;
    }
    return set;
}

DomainSet complement(Field field, const DomainSet& set) {
    return {.absent = !set.absent,
            .numbers = complement(set.numbers, largest(field)),
            .v6 = has_addresses(field) ? complement(set.v6, kLargestV6) : Ranges{}};
}

DomainSet intersection(const DomainSet& a, const DomainSet& b) {
    return {.absent = a.absent && b.absent,
            .numbers = intersection(a.numbers, b.numbers),
            .v6 = intersection(a.v6, b.v6)};
}

DomainSet unite(const DomainSet& a, const DomainSet& b) {
    return {.absent = a.absent || b.absent,
            .numbers = unite(a.numbers, b.numbers),
            .v6 = unite(a.v6, b.v6)};
}

std::size_t hash_of(const DomainSet& set) noexcept {
    std::size_t hash = set.absent ? 1 : 2;
    for (const auto* ranges : {&set.numbers, &set.v6}) {
        hash = mixed(hash, ranges->size());
        for (const WideRange& range : *ranges) {
            hash = mixed(mixed(hash, range.first), range.last);
        }
    }
    return hash;
}

}  // namespace sluice
