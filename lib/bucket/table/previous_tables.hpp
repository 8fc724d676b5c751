#pragma once
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/bucket/table/one_line.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// The tables of earlier processes that had another size, number of workers or spreading of flows:
// their entries cannot be filed anew without their keys, since all that is kept of a key is which
// line its hash leads to, and 25 bits more. So filing a new key looks here first and takes over
// what it owes. Every worker reads them; all that is ever written is that an entry is over.
class PreviousTables {
public:
    struct Store {
        BucketStore buckets;
        std::size_t process = 0;  // one after the other in a list
    };
    // Stores that recover() has made whole. Nothing in them is owed from `until` on, unless numbers
    // change.
    PreviousTables(std::vector<Store> stores, Instant until);

    // The units that a key, or a rule, has used of its limit, in all of them together. `present`:
    // the numbers that count for the key now; nullptr: they are not known.
    [[nodiscard]] Units used(const BucketAt& at, const LimitRegistry& registry, Now now,
                             const AnyLimit* present = nullptr) const noexcept;
    // The colour meter of a key, as a whole; nullopt: it owes nothing, or to several workers.
    [[nodiscard]] std::optional<OneLine> meter_of(const BucketAt& at, const LimitRegistry& registry,
                                                  Now now) const noexcept;
    // The rest of a ban of the key; 0: none.
    [[nodiscard]] Nanoseconds ban_left(const TableKey& key, Instant now) const noexcept;
    // Ends what the key owes. Taking it over alone needs none of this: each worker that the key
    // comes to takes it over, and once, since what it took over lasts as long.
    void end(const BucketAt& at) const noexcept;

    // True if any parent may still owe something.
    [[nodiscard]] bool coarsened(Instant now) const noexcept;
    [[nodiscard]] Instant until() const noexcept { return until_; }
    // The instant from which the key owes nothing there that has not been taken over; one that has
    // passed where it owes nothing.
    [[nodiscard]] Instant fresh_from(const BucketAt& at, const LimitRegistry& registry,
                                     Now now) const noexcept;
    [[nodiscard]] std::uint64_t entries_of(LimitSlot slot) const noexcept;
    // Instants at which the latest process adopted changes of numbers; nullptr: there is none.
    [[nodiscard]] const RecoveryLog* latest_log() const noexcept {
        return stores_.empty() ? nullptr : &stores_.back().buckets.registry.recovery_log();
    }
    // For readers of all that lies there.
    [[nodiscard]] std::span<const Store> stores() const noexcept { return stores_; }

    // Each core reports once that it has stopped reading here; then all may go.
    void release(std::size_t core) noexcept { released_[core].raise(true); }
    [[nodiscard]] bool is_released(std::size_t cores) const noexcept;

private:
    template <typename EntryIn>
    [[nodiscard]] Units used_in_all(const LimitRegistry& registry, Now now, const AnyLimit* present,
                                    EntryIn&& entry_in) const noexcept;
    [[nodiscard]] static const BucketTable& table_of(const BucketStore& store,
                                                     std::uint8_t aggregation_level) noexcept {
        return aggregation_level == 0 ? store.keys : store.parents;
    }

    std::vector<Store> stores_;
    Instant until_;
    std::array<Signal, kMaxCores> released_;
};

}  // namespace sluice
