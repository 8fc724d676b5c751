#include "lib/pipeline/owner_burst.hpp"

#include "lib/load/owner_rules.hpp"
#include "lib/rules/group.hpp"
#include "lib/share/core.hpp"

#include <algorithm>
#include <span>

namespace sluice {
namespace {

std::span<Match> matches_of(Scratch& scratch, std::size_t row) noexcept {
    return {&scratch.matches[scratch.spans[row].first], scratch.spans[row].count};
}

// Of the rules that match one packet, the group at an owner; 0: none.
std::uint16_t group_of(std::span<const Match> matches, const LoadedSet& set) noexcept {
    std::uint16_t group = 0;
    for (const Match& match : matches) {
        const std::uint16_t handing = set.handing[match.rule];
        if (handing == kDecidesOnSight) {
            return 0;
        }
        if ((handing & kIsBudget) != 0) {
            return handing & ~kIsBudget;
        }
        group = group == 0 ? handing : group;
    }
    return group;
}

// The common case: an address of the packet. False: it takes the long way.
bool is_address_of_packet(const GroupingKey& parts) noexcept {
    return parts.size() == 1 && !parts.front().text &&
           (parts.front().field == Field::IpSrc || parts.front().field == Field::IpDst);
}

// What decides on the owner. False: the packet lacks a part of it.
bool take_key(const GroupingKey& parts, const Packet& packet, KeyBytes& key) noexcept {
    const Flow& flow = packet.flow;
    if (!is_address_of_packet(parts)) {
        return key_of(parts, MissingKey::Skip, flow, packet.frame.bytes, key) !=
               KeyOutcome::Missing;
    }
    const Field field = parts.front().field;
    if (!flow.fields.has(field)) {
        return false;
    }
    key.append_address(parts.front(),
                       {flow.ip_version, field == Field::IpSrc ? flow.src : flow.dst});
    return true;
}

std::uint8_t owner_of(const OwnerGroup& group, const Packet& packet, const CoreState& core,
                      std::size_t workers) noexcept {
    KeyBytes key;
    if (!take_key(group.parts, packet, key)) {
        return kStays;  // it has none of the keys
    }
    const Wide hash = core.hash(group.salt, key.view()).hash;
    return static_cast<std::uint8_t>(hash * workers >> 64);
}

// Where the rules of one packet go.
struct MatchPlace {
    Match* matches;
    std::uint8_t row;
};

// Both lists stay without gaps, as the next stage goes through them.
std::uint32_t keep_matches(std::span<const Match> matches, MatchPlace to, bool owned_too,
                           const LoadedSet& set) noexcept {
    std::uint32_t kept = 0;
    for (const Match& match : matches) {
        if (owned_too || !is_owned(set.handing[match.rule])) {
            to.matches[kept] = match;
            to.matches[kept++].packet = to.row;
        }
    }
    return kept;
}

}  // namespace

bool find_owners(const Burst& burst, const LoadedSet& set, const CoreState& core,
                 std::size_t workers, BurstOwners& owners) noexcept {
    static_assert(kMaxCores < kStays);
    const Scratch& scratch = burst.scratch();
    bool any = false;
    std::size_t row = 0;
    for (const Packet& packet : burst.packets()) {
        const MatchSpan& span = scratch.spans[row];
        const std::uint16_t group =
            span.count == 0 ? 0 : group_of({&scratch.matches[span.first], span.count}, set);
        owners[row] =
            group == 0 ? kStays : owner_of(set.owner_groups[group - 1U], packet, core, workers);
        any |= owners[row] != kStays;
        ++row;
    }
    return any;
}

bool may_go_on(Burst& burst, std::size_t row, const LoadedSet& set) noexcept {
    const std::span<const Match> matches = matches_of(burst.scratch(), row);
    return std::none_of(matches.begin(), matches.end(), [&set](const Match& match) {
        const LoadedRule& rule = set.rules[match.rule];
        return rule.owner_group != 0 && rule.on_match == OnMatch::Meter &&
               rule.mode == Mode::Enforce && rule.on_full != OnFull::Open;
    });
}

void split_burst(Burst& burst, const BurstSplit& split, const LoadedSet& set) noexcept {
    Scratch& scratch = burst.scratch();
    const std::span<Packet> rows = burst.packets();
    std::uint32_t next = 0;
    std::size_t kept = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const std::uint32_t bit = std::uint32_t{1} << row;
        if ((split.gone & bit) != 0) {
            continue;
        }
        const std::uint32_t count = keep_matches(
            matches_of(scratch, row), {&scratch.matches[next], static_cast<std::uint8_t>(kept)},
            (split.unowned & bit) == 0, set);
        scratch.spans[kept] = {next, count};
        if (kept != row) {
            rows[kept] = rows[row];
        }
        next += count;
        ++kept;
    }
    scratch.match_count = next;
    burst.shrink(kept);
}

}  // namespace sluice
