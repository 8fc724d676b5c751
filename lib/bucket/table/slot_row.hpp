#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/number_change.hpp"
#include "lib/share/checked_word.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sluice {

class OwnCounts;  // own_counts.hpp

// How many versions of a limit's numbers its entries can distinguish.
inline constexpr std::uint8_t kNumberVersions = 7;
// How many changes of numbers a worker remembers the instants of.
inline constexpr std::size_t kRememberedChanges = 64;

// Numbers that a limit had before, for buckets that were last written under them.
struct PreviousNumbers {
    AnyLimit limit;
    std::vector<AnyLimit> coarser;
    std::uint8_t version = 0;  // that the buckets carry
    std::uint8_t change = 0;   // which change of the rules ended it: index in ChangeTimes
    bool forgiven = false;     // by that change: buckets owe no more than a fresh one has since
    // The same of windows whose keys may have counts of their own. No other process knows them:
    // what has not been forgiven by its end stays.
    std::shared_ptr<const OwnCounts> own_counts{};
};

// The change that brings an entry of aggregation level 0 from the last former numbers of a token or
// leaky bucket under those in force, in one line of memory: right after a change most entries are
// like that.
struct alignas(64) LatestChange {
    static constexpr std::uint8_t kNone = 0xFF;
    std::uint8_t from = kNone;  // the version that such entries carry; kNone: there are none
    std::uint8_t to = 0;        // in force
    std::uint8_t change = 0;    // as PreviousNumbers has it
    // Numbers were lowered: buckets may have used more than those in force allow.
    bool lowered = false;
    NumberChange numbers;
    // The set in force forgives keys with numbers of their own, where these are others than before.
    bool forgives_own = false;
};
static_assert(sizeof(LatestChange) == 64);

// How the debts of one key in several workers' tables combine: a sum where each spent for itself,
// the largest where they share amounts (lib/peer/merge).
enum class Combine : std::uint8_t { Sum, Most };

// A slot that a limit had while the packets of its keys reached other workers. Its entries are
// charged no more: a key that is filed under the limit's own slot takes over what it owes there.
struct MigratedFrom {
    std::uint16_t slot = 0;
    Combine combine = Combine::Sum;

    [[nodiscard]] bool operator==(const MigratedFrom&) const noexcept = default;
};

// Facts that must be known of a limit to handle its entries without its rule at hand.
struct SlotRow {
    const AnyLimit* limit = nullptr;            // nullptr: no limit has this slot
    std::span<const AnyLimit> coarser;          // its numbers by aggregation level - 1
    std::span<const PreviousNumbers> previous;  // latest first
    const std::vector<MigratedFrom>* migrated_from = nullptr;  // latest first; nullptr: none
    std::uint8_t version = 0;
    bool overridden = false;  // keys may have other numbers
    // A bucket of the limit's numbers lies in its entry: forgetting it does not read the limit,
    // which lies on a page of its own.
    bool in_entry = false;
    // Buckets of the limit's keys may have leases (Entry::lease()).
    bool leases = false;
    // The bound of a limit that workers share (lib/peer/merge); 0: they do not.
    std::uint32_t max_unsynced = 0;
    // How long an entry may lie idle before the sweep empties it. A new key takes its place at
    // once.
    Nanoseconds linger{};
    LatestChange latest{};

    [[nodiscard]] std::span<const MigratedFrom> moved() const noexcept {
        return migrated_from == nullptr ? std::span<const MigratedFrom>{} : *migrated_from;
    }
};
static_assert(sizeof(SlotRow) == 128, "two lines, of which a change of numbers needs one");

// True if entries may still stand under numbers from before a change that forgave.
[[nodiscard]] inline bool is_forgiven_lately(const SlotRow& row) noexcept {
    for (const PreviousNumbers& previous : row.previous) {
        if (previous.forgiven) {
            return true;
        }
    }
    return false;
}

// The numbers at a aggregation level; nullptr: the limit does not coarsen so far.
[[nodiscard]] inline const AnyLimit* numbers_at(const AnyLimit& limit,
                                                std::span<const AnyLimit> coarser,
                                                std::uint8_t aggregation_level) noexcept {
    if (aggregation_level == 0) {
        return &limit;
    }
    return aggregation_level <= coarser.size() ? &coarser[aggregation_level - 1] : nullptr;
}

// The numbers of aggregation level 0 that entries of a version carry; nullptr: no entry does any
// more.
[[nodiscard]] inline const AnyLimit* numbers_of_version(const SlotRow& row,
                                                        std::uint8_t version) noexcept {
    if (version == row.version) {
        return row.limit;
    }
    for (const PreviousNumbers& previous : row.previous) {
        if (previous.version == version) {
            return &previous.limit;
        }
    }
    return nullptr;
}

// When a worker adopted a change of numbers: from then on it judged by the new ones.
class ChangeTime {
public:
    [[nodiscard]] Instant at() const noexcept {
        return Instant{Nanoseconds{static_cast<std::int64_t>(word_.value())}};
    }
    [[nodiscard]] bool is_whole() const noexcept { return word_.is_whole(); }
    void set(Instant at) noexcept {
        word_.set(static_cast<std::uint64_t>(at.time_since_epoch().count()));
    }

private:
    CheckedWord<58> word_;  // ns; as wide as in an entry
};
using ChangeTimes = std::array<ChangeTime, kRememberedChanges>;

}  // namespace sluice
