#pragma once
#include "lib/meter/bucket_store.hpp"
#include "lib/meter/peer_lines.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

// What a key owes in tables that its own worker does not write.
struct Owed {
    // A whole bucket of an algorithm that keeps it in one line.
    struct OneLine {
        std::array<std::byte, kLineBytes> bytes;
        Instant fresh_from;
    };
    bool found = false;  // there is an entry, whatever it owes
    Units used{0};
    // The same exactly, under the limit's numbers, where it can be told.
    std::optional<Gcra> bucket;
    std::optional<OneLine> line;
};

// The tables of all workers of this process, for looking only. Where a limit's keys meet other
// workers from a reload on, it gets another slot: what keys owe under the one before stays where it
// is, nobody charges it any more, and each worker that files a key takes it over, once. So one
// entry of a worker is read by all, and nothing of another's is written.
class PeerTables {
public:
    // In the order of the workers; they outlive it.
    explicit PeerTables(std::vector<const BucketStore*> stores) : stores_{std::move(stores)} {}

    // What a key owes under the slots that its limit had before: under the latest that anybody has
    // an entry of it in, since that one has taken over from those before. `tenants` knows all of
    // them. `step`: of the key, as it coarsens.
    [[nodiscard]] Owed owed_before(const FiledKey& key, std::uint8_t step, const Tenants& tenants,
                                   Now now) const noexcept;
    // The same of the limit's last bucket, which is no key's.
    [[nodiscard]] Owed owed_by_rule_before(LimitSlot slot, const Tenants& tenants,
                                           Now now) const noexcept;
    // While a key is moving: what others than `mine` hold under its own slot.
    [[nodiscard]] Units used_by_others(const FiledKey& key, Combine combine,
                                       const BucketStore& mine, Now now) const noexcept;
    // Whether one of them has an entry of it.
    [[nodiscard]] bool others_have(const FiledKey& key, const BucketStore& mine) const noexcept;
    // The rest of a ban of the key under its slot, or those before; 0: none.
    [[nodiscard]] Nanoseconds ban_left(const FiledKey& key, const Tenants& tenants,
                                       Instant now) const noexcept;
    // Whether any parent may owe something.
    [[nodiscard]] bool coarsened(Instant now) const noexcept;

private:
    class Sum;
    [[nodiscard]] bool has_entries(LimitSlot slot) const noexcept;
    void prefetch(const FiledKey& key, std::uint8_t step) const noexcept;

    std::vector<const BucketStore*> stores_;
};

}  // namespace sluice
