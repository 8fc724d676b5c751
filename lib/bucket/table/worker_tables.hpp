#pragma once
#include "lib/bucket/pool/remote_lines.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/bucket/table/one_line.hpp"
#include "lib/share/digest_owners.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

// The debt of a key in tables that its own worker does not write.
struct Owed {
    bool found = false;  // there is an entry, whatever it owes
    Units used{0};
    // The same exactly, under the limit's numbers, where it can be told.
    std::optional<Gcra> bucket;
    std::optional<OneLine> line;
};

// The tables of all workers of this process. Where a limit's keys meet other workers from a reload
// on, it gets another slot: what keys owe under the one before stays where it is, nobody charges it
// any more, and each worker that files a key takes it over, once. So one entry of a worker is read
// by all, and nothing of another's is written, but that an entry is over whose debt has been
// charged to a wider key.
class WorkerTables {
public:
    // In the order of the workers; they outlive it.
    explicit WorkerTables(std::vector<const BucketStore*> stores)
        : stores_{std::move(stores)},
          connection_owners_{std::make_unique<DigestOwners>(
              stores_.size(), kPlacesPerLine * most_lines(stores_))} {}

    [[nodiscard]] std::size_t workers() const noexcept { return stores_.size(); }
    [[nodiscard]] std::size_t index_of(const BucketStore& store) const noexcept {
        return static_cast<std::size_t>(std::find(stores_.begin(), stores_.end(), &store) -
                                        stores_.begin());
    }
    // The workers that may count a connection as open, however many they are; an index that has
    // been told (BucketStore::set_worker_tables()) names its own there.
    [[nodiscard]] DigestOwners& connection_owners() const noexcept { return *connection_owners_; }
    // True if a worker counts a connection as open; what it opens or closes at this moment may be
    // missed.
    [[nodiscard]] bool has_connection(std::size_t worker, std::uint64_t digest) const noexcept;

    // Entries and unsynced accounts of a limit at all workers. 0: nothing is owed under its slot;
    // if nobody charges it any more, nothing will be.
    [[nodiscard]] std::uint64_t uses_of(LimitSlot slot) const noexcept;
    // The workers that have entries of it, a bit each; and the table that these lie in.
    [[nodiscard]] std::uint64_t users_of(LimitSlot slot) const noexcept;
    [[nodiscard]] const BucketTable& keys_of(std::size_t worker) const noexcept {
        return stores_[worker]->keys;
    }

    // The debt under the slots that the limit had before: under the latest that anybody has an
    // entry in, since that one has taken over from those before. `registry` knows all of them.
    [[nodiscard]] Owed owed_before(const BucketAt& at, const LimitRegistry& registry,
                                   Now now) const noexcept;
    // The instant from which none of that is owed; one that has passed where nothing is.
    [[nodiscard]] Instant fresh_before(const BucketAt& at, const LimitRegistry& registry,
                                       Now now) const noexcept;
    // True if some of that is on its way to its owner, whose bucket will owe it; once it has
    // arrived under a slot that nobody charges any more, nothing else is.
    [[nodiscard]] bool is_on_its_way(const BucketAt& at,
                                     const LimitRegistry& registry) const noexcept;
    // Nobody is to find that any more. Of keys, not of a rule.
    void end_before(const BucketAt& at, const LimitRegistry& registry) const noexcept;
    // While a key is moving: what others than `mine` hold under its own slot.
    [[nodiscard]] Units used_by_others(const BucketAt& at, Combine combine, const BucketStore& mine,
                                       Now now) const noexcept;
    // True if one of them has an entry of it.
    [[nodiscard]] bool others_have(const BucketAt& at, const BucketStore& mine) const noexcept;
    // The rest of a ban of the key under its slot, or those before; 0: none.
    [[nodiscard]] Nanoseconds ban_left(const TableKey& key, const LimitRegistry& registry,
                                       Instant now) const noexcept;
    // True if any parent may owe something.
    [[nodiscard]] bool coarsened(Instant now) const noexcept;

private:
    class Sum;
    // In a pool that is full of connections every second place is still free.
    static constexpr std::size_t kPlacesPerLine = 2;

    [[nodiscard]] static std::size_t most_lines(
        const std::vector<const BucketStore*>& stores) noexcept {
        std::size_t most = 0;
        for (const BucketStore* store : stores) {
            most = std::max(most, store->registry.pool().size());
        }
        return most;
    }
    void prefetch(const BucketAt& at) const noexcept;

    std::vector<const BucketStore*> stores_;
    std::unique_ptr<DigestOwners> connection_owners_;
};

}  // namespace sluice
