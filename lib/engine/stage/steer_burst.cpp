#include "lib/engine/stage/steer_burst.hpp"

#include "lib/engine/burst/burst_units.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/load/owner_rules.hpp"
#include "lib/share/core.hpp"

#include <algorithm>
#include <span>

namespace sluice {
namespace {

// The common case: an address of the packet. False: it takes the long way.
bool is_address_of_packet(const GroupingKey& parts) noexcept {
    return parts.size() == 1 && !parts.front().text &&
           (parts.front().field == Field::IpSrc || parts.front().field == Field::IpDst);
}

// The key that decides on the owner. False: the packet lacks a part of it.
bool take_key(const GroupingKey& parts, const Burst& burst, std::size_t row,
              KeyBytes& key) noexcept {
    if (!is_address_of_packet(parts)) {
        return key_of(parts, MissingKey::Skip, burst.headers_of(row), burst.frame(row).bytes,
                      key) != KeyOutcome::Missing;
    }
    const Field field = parts.front().field;
    if (!has_row(burst.headers().present_rows(field), row)) {
        return false;
    }
    key.append_address(parts.front(), burst.headers().address(field, row));
    return true;
}

std::uint8_t owner_of(const OwnerGroup& group, const Burst& burst, std::size_t row,
                      const CoreState& core, std::size_t workers) noexcept {
    KeyBytes key;
    if (!take_key(group.parts, burst, row, key)) {
        return kStays;  // it has none of the keys
    }
    const Wide hash = core.hash(group.salt, key.view()).hash;
    return static_cast<std::uint8_t>(hash * workers >> 64);
}

// The group at an owner, for each packet, of the rules that match it; 0: none. A packet of a banned
// source meets budgets alone, which stand before the ban.
class RowGroups {
public:
    RowGroups(const Scratch& scratch, const LoadedSet& set) noexcept {
        RowMask open = ~RowMask{0};
        for (const ActiveRule& active : std::span{scratch.rules.get(), scratch.rule_count}) {
            const std::uint16_t steering = set.steering[active.rule];
            const RowMask rows = active.rows & open;
            if (steering == kDecidesOnSight) {
                put(rows, 0);
                open &= ~rows;
            } else if ((steering & kIsBudget) != 0) {
                put(rows, steering & ~kIsBudget);
                open &= ~rows;
            } else if (steering != kHandsNothing) {
                put(rows & ~(grouped_ | scratch.banned), steering);
            }
        }
    }
    // Rows that have one.
    [[nodiscard]] RowMask rows() const noexcept { return grouped_; }
    [[nodiscard]] std::uint16_t of(std::size_t row) const noexcept { return groups_[row]; }

private:
    void put(RowMask rows, unsigned group) noexcept {
        for_each_row(rows,
                     [&](std::size_t row) { groups_[row] = static_cast<std::uint16_t>(group); });
        grouped_ = group == 0 ? grouped_ & ~rows : grouped_ | rows;
    }

    std::array<std::uint16_t, kMaxBurst> groups_{};
    RowMask grouped_ = 0;
};

// Takes these rows from their rules at owners: they are judged without.
void disown(Scratch& scratch, RowMask unowned, const LoadedSet& set) noexcept {
    for (ActiveRule& active : std::span{scratch.rules.get(), scratch.rule_count}) {
        active.rows &= is_owned(set.steering[active.rule]) ? ~unowned : ~RowMask{0};
    }
}

}  // namespace

bool find_owners(const Burst& burst, const LoadedSet& set, const CoreState& core,
                 std::size_t workers, BurstOwners& owners) noexcept {
    static_assert(kMaxCores < kStays);
    const RowGroups groups{burst.scratch(), set};
    owners.fill(kStays);
    bool any = false;
    for_each_row(groups.rows(), [&](std::size_t row) {
        owners[row] = owner_of(set.owner_groups[groups.of(row) - 1U], burst, row, core, workers);
        any |= owners[row] != kStays;
    });
    return any;
}

bool may_go_on(const Burst& burst, std::size_t row, const LoadedSet& set) noexcept {
    const Scratch& scratch = burst.scratch();
    const std::span<const ActiveRule> active{scratch.rules.get(), scratch.rule_count};
    return std::none_of(active.begin(), active.end(), [&](const ActiveRule& match) {
        const LoadedRule& rule = set.rules[match.rule];
        return has_row(match.rows, row) && rule.owner_group != 0 &&
               rule.on_match == OnMatch::Meter && rule.mode == Mode::Enforce &&
               rule.on_full != OnFull::Open;
    });
}

void split_burst(Burst& burst, const BurstSplit& split, const LoadedSet& set) noexcept {
    burst.take_out(split.gone);
    disown(burst.scratch(), split.unowned, set);
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            disown(further.scratch(), burst.units()->rows_of(further, split.unowned), set);
        }
    }
}

}  // namespace sluice
