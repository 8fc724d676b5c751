#include "lib/rules/load/early_drop.hpp"

#include "lib/match/address_key.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/override_ranges.hpp"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

namespace sluice {
namespace {

// A ban over networks that rules divide further is left to the box.
constexpr std::size_t kMostSteps = 64;

// The only key of an enforced rule, if it is by source address; nullptr: it is another rule.
const KeyPart* source_key_of(const Rule& rule) noexcept {
    const bool fits = rule.on_match == OnMatch::Meter && rule.is_always_enforced() &&
                      rule.keys.size() == 1 && is_source(rule.keys[0]);
    return fits ? rule.keys[0].data() : nullptr;
}

bool bans_by_operator(const Rule& rule) {
    const ActionIndex action = rule.bans() ? rule.ban.action : rule.on_exceed;
    return action == kDropAction && rule.overrides != nullptr;
}

bool is_in(const IpPrefix& network, const IpPrefix& key) {
    return network.version == key.version && network.length <= key.length &&
           masked(key.address, network.length) == network.address;
}

// The keys that are exempt: of a network that is banned, they pass.
std::vector<DroppedNetwork> exempt_keys(const Overrides& overrides, std::uint32_t rule) {
    std::vector<DroppedNetwork> exempt;
    const KeyOverrides& keys = overrides.keys[0];
    for (std::size_t row = 0; row < keys.rows.size(); ++row) {
        const OverridePlan& plan = overrides.plans[keys.rows[row].plan];
        const std::optional<IpPrefix> from = source_of_key(keys.key(row));
        if (plan.exempt && from) {
            exempt.push_back({*from, rule, plan.exempt_until, EarlyDropSource::Exempt});
        }
    }
    return exempt;
}

// The rule's only key's; nullptr: it has none of its own.
const OverridePlan* plan_of(const Overrides& overrides, ByteView key) {
    const KeyOverrides& keys = overrides.keys[0];
    const auto rows = std::views::iota(std::size_t{0}, keys.rows.size());
    const auto at = std::ranges::lower_bound(
        rows, key,
        [](ByteView a, ByteView b) { return std::ranges::lexicographical_compare(a, b); },
        [&](std::size_t row) { return keys.key(row); });
    const bool is_there = at != rows.end() && std::ranges::equal(keys.key(*at), key);
    return is_there ? &overrides.plans[keys.rows[*at].plan] : nullptr;
}

unsigned bits_of(IpVersion version) {
    return version == IpVersion::V4 ? kV4Bits : kV6Bits;
}
// The lowest so many bits.
Wide low_bits(unsigned bits) {
    return bits == kV6Bits ? ~Wide{0} : (Wide{1} << bits) - 1;
}

IpAddress address_of(IpVersion version, Wide number) {
    IpAddress address;
    for (unsigned at = bits_of(version) / 8; at-- > 0; number >>= 8) {
        address.bytes[at] = static_cast<std::byte>(number & 0xFF);
    }
    return address;
}

// The networks that make up a range.
template <typename Take>
void for_each_network(IpVersion version, SourceRange range, Take&& take) {
    for (;;) {
        unsigned free = 0;
        while (free < bits_of(version) && (range.first & low_bits(free + 1)) == 0 &&
               (range.first | low_bits(free + 1)) <= range.last) {
            ++free;
        }
        take(IpPrefix{version, address_of(version, range.first),
                      static_cast<std::uint8_t>(bits_of(version) - free)});
        const Wide end = range.first | low_bits(free);
        if (end >= range.last) {
            return;
        }
        range.first = end + 1;
    }
}

// Addresses that networks and ranges exempt, those that overlap together, in their order. Which of
// them still do, and what is said within them, is left to the box.
class ExemptAddresses {
public:
    explicit ExemptAddresses(const Overrides& overrides) {
        if (overrides.ranges.empty()) {
            return;
        }
        for (const OverrideRange& range : overrides.ranges[0]) {
            const bool is_inside = !ranges_.empty() && ranges_.back().version == range.version &&
                                   range.first <= ranges_.back().last;
            if (overrides.plans[range.plan].exempt && !is_inside) {
                ranges_.push_back(range);
            }
        }
    }

    // Adds them as networks that pass, at most so many; false: there are more.
    [[nodiscard]] bool add_to(std::vector<DroppedNetwork>& exempt, std::uint32_t rule,
                              std::size_t most) const {
        const std::size_t room = exempt.size() + most;
        for (const OverrideRange& range : ranges_) {
            for_each_network(static_cast<IpVersion>(range.version), {range.first, range.last},
                             [&](const IpPrefix& from) {
                                 exempt.push_back({from, rule, kForever, EarlyDropSource::Exempt});
                             });
            if (exempt.size() > room) {
                return false;
            }
        }
        return true;
    }

    // True if some lie in the network, or around it, or across its ends.
    [[nodiscard]] bool meet(const IpPrefix& network) const {
        const OverrideRange* last = last_up_to(network.version, last_of(network));
        return last != nullptr && last->last >= first_of(network);
    }
    // True if those that meet the network lie in it, and are smaller.
    [[nodiscard]] bool are_within(const IpPrefix& network) const {
        const OverrideRange* at_begin = last_up_to(network.version, first_of(network));
        const OverrideRange* at_end = last_up_to(network.version, last_of(network));
        const bool begins =
            at_begin == nullptr || at_begin->last < first_of(network) ||
            (at_begin->first == first_of(network) && at_begin->last < last_of(network));
        return begins && (at_end == nullptr || at_end->last <= last_of(network));
    }

private:
    [[nodiscard]] static Wide first_of(const IpPrefix& network) {
        return wide_key(network.version, network.address);
    }
    [[nodiscard]] static Wide last_of(const IpPrefix& network) {
        return first_of(network) | low_bits(bits_of(network.version) - network.length);
    }
    // The last that begins at the address or before it; nullptr: none does.
    [[nodiscard]] const OverrideRange* last_up_to(IpVersion version, Wide address) const {
        const auto next = std::upper_bound(ranges_.begin(), ranges_.end(),
                                           std::pair{static_cast<std::uint8_t>(version), address},
                                           [](const auto& sought, const OverrideRange& one) {
                                               return sought < std::pair{one.version, one.first};
                                           });
        const bool is_there =
            next != ranges_.begin() && (next - 1)->version == static_cast<std::uint8_t>(version);
        return is_there ? &*(next - 1) : nullptr;
    }

    std::vector<OverrideRange> ranges_;
};

void add(const DroppedNetwork& network, DroppedNetworks& found, std::size_t most) {
    if (found.networks.size() < most) {
        found.networks.push_back(network);
    } else {
        ++found.left_out;
    }
}

}  // namespace

bool boxes_sources(const Rule& rule) noexcept {
    return source_key_of(rule) != nullptr && rule.bans() && rule.ban.action == kDropAction;
}

bool may_be_exempt(const LoadedRule& rule, ByteView key) {
    const bool has_some = rule.overrides != nullptr && !rule.override_tables.empty() &&
                          rule.override_tables[0] != nullptr;
    if (!has_some) {
        return false;
    }
    const Overrides& all = *rule.overrides;
    const OverridePlan* const own = plan_of(all, key);
    if (own != nullptr && own->exempt) {
        return true;
    }
    const OverrideRanges* const ranges = rule.override_tables[0]->ranges();
    const auto* level = ranges == nullptr ? nullptr : ranges->around(key);
    while (level != nullptr && !all.plans[level->plan].exempt) {
        level = ranges->wider_than(*level);
    }
    return level != nullptr;
}

std::optional<IpPrefix> source_of_key(ByteView key) {
    const IpPrefix from = address_of_key(key);
    const bool is_source = from.version != IpVersion::None &&
                           address_header_of(key).field == static_cast<std::uint8_t>(Field::IpSrc);
    return is_source ? std::optional{from} : std::nullopt;
}

DroppedNetworks EarlyDropProof::networks(std::size_t most) {
    DroppedNetworks found;
    for (std::uint32_t rule = 0; rule < set_.rules.size(); ++rule) {
        const KeyPart* const key = source_key_of(set_.rules[rule]);
        if (key != nullptr && bans_by_operator(set_.rules[rule])) {
            add_network_bans(rule, found, most);
            add_bans(rule, *key, found, most);
        }
    }
    add_denied(IpVersion::V4, found, most);
    add_denied(IpVersion::V6, found, most);
    return found;
}

std::optional<DroppedNetwork> EarlyDropProof::boxed(std::uint32_t rule, ByteView key,
                                                    Nanoseconds until) {
    const Rule& of = set_.rules[rule];
    const KeyPart* const part = source_key_of(of);
    const std::optional<IpPrefix> from = source_of_key(key);
    if (!boxes_sources(of) || !from || from->length != part->length(from->version) ||
        !decides(rule, *from)) {
        return std::nullopt;
    }
    return DroppedNetwork{*from, rule, until, EarlyDropSource::PenaltyBox};
}

// Neighbours that the same rule denies are one range.
void EarlyDropProof::add_denied(IpVersion version, DroppedNetworks& found, std::size_t most) {
    std::uint32_t rule = SourceVerdict::kNoRule;
    SourceRange range;
    const auto end_range = [&] {
        if (rule != SourceVerdict::kNoRule) {
            for_each_network(version, range, [&](const IpPrefix& from) {
                add({from, rule, kForever}, found, most);
            });
        }
    };
    const SourceRange all{0, low_bits(bits_of(version))};
    verdicts_.walk(version, all, [&](SourceRange part, std::uint32_t row) {
        const std::uint32_t by = verdicts_.of_row(row).denied_by;
        if (by != rule) {
            end_range();
            range.first = part.first;
            rule = by;
        }
        range.last = part.last;
        return true;
    });
    end_range();
}

void EarlyDropProof::add_bans(std::uint32_t rule, const KeyPart& key, DroppedNetworks& found,
                              std::size_t most) {
    const Overrides& overrides = *set_.rules[rule].overrides;
    const KeyOverrides& keys = overrides.keys[0];
    for (std::size_t row = 0; row < keys.rows.size(); ++row) {
        const OverridePlan& plan = overrides.plans[keys.rows[row].plan];
        const std::optional<IpPrefix> from = source_of_key(keys.key(row));
        // An exempt key passes once its ban has ended: where networks are banned it is left to the
        // box.
        const bool is_left = plan.exempt && !overrides.networks.empty();
        if (plan.banned && !is_left && from && from->length == key.length(from->version) &&
            decides(rule, *from)) {
            add({*from, rule, plan.banned_until, EarlyDropSource::KeyBan}, found, most);
        }
    }
}

// Keys that are exempt are sorted, so that those of a network lie together: each version by its
// addresses. One that is in several banned networks needs one place, before the first of them.
void EarlyDropProof::add_network_bans(std::uint32_t rule, DroppedNetworks& found,
                                      std::size_t most) {
    const Overrides& overrides = *set_.rules[rule].overrides;
    if (overrides.networks.empty()) {
        return;
    }
    std::vector<DroppedNetwork> exempt = exempt_keys(overrides, rule);
    const auto by_address = [](const DroppedNetwork& a, const DroppedNetwork& b) {
        return std::pair{a.from.version, wide_key(a.from.version, a.from.address)} <
               std::pair{b.from.version, wide_key(b.from.version, b.from.address)};
    };
    const ExemptAddresses by_range{overrides};
    const bool all_fit = by_range.add_to(exempt, rule, most);
    std::sort(exempt.begin(), exempt.end(), by_address);
    std::vector<bool> placed(exempt.size());
    // A ban is for the box where a range no smaller is exempt: it knows which of both still holds.
    const auto is_for_the_box = [&](const IpPrefix& from) {
        return by_range.meet(from) && !(all_fit && by_range.are_within(from));
    };
    const KeyOverrides& networks = overrides.networks[0];
    for (std::size_t row = 0; row < networks.rows.size(); ++row) {
        const OverridePlan& plan = overrides.plans[networks.rows[row].plan];
        const std::optional<IpPrefix> from = source_of_key(networks.key(row));
        if (!plan.banned || !from || is_for_the_box(*from) || !decides(rule, *from)) {
            continue;
        }
        const DroppedNetwork network{*from, rule, plan.banned_until, EarlyDropSource::NetworkBan};
        const auto first = static_cast<std::size_t>(
            std::lower_bound(exempt.begin(), exempt.end(), network, by_address) - exempt.begin());
        std::size_t last = first;
        std::size_t wanted = 1;
        for (; last < exempt.size() && is_in(*from, exempt[last].from); ++last) {
            wanted += placed[last] ? 0U : 1U;
        }
        if (wanted > most - std::min(most, found.networks.size())) {
            ++found.left_out;
            continue;
        }
        for (std::size_t at = first; at < last; ++at) {
            if (!placed[at]) {
                placed[at] = true;
                found.networks.push_back(exempt[at]);
            }
        }
        found.networks.push_back(network);
    }
}

// True if the rule's ban of them is what becomes of their packets.
bool EarlyDropProof::decides(std::uint32_t rule, const IpPrefix& from) {
    const Wide first = wide_key(from.version, from.address);
    const SourceRange range{first, first | low_bits(bits_of(from.version) - from.length)};
    const bool before_rules = bans_sources(set_.rules[rule]);
    bool all = true;
    std::size_t steps = 0;
    verdicts_.walk(from.version, range, [&](SourceRange, std::uint32_t row) {
        const SourceVerdict& verdict = verdicts_.of_row(row);
        const bool holds = before_rules ? !verdict.may_bypass
                                        : verdict.open && std::find(verdict.matching.begin(),
                                                                    verdict.matching.end(),
                                                                    rule) != verdict.matching.end();
        all = ++steps <= kMostSteps && holds;
        return all;
    });
    return all;
}

}  // namespace sluice
