#pragma once
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/bucket/table/take.hpp"
#include "tests/bench/keys.hpp"
#include "tests/bench/roof.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::bench {

// The product's store as one worker uses it, every key replaced once since it was filled, all keys
// live: what a table looks like that has been in service for a while.
class AgedTable {
public:
    static constexpr std::size_t kBurst = 32;
    static constexpr std::uint64_t kFillPercent = 80;

    explicit AgedTable(std::size_t keys);

    // Find or add and decide, uniform over the keys, lines prefetched one burst ahead.
    void run(std::size_t bursts, Random& random);
    // Every packet a new key while the table is full: the parent is charged. `networks`, a power of
    // two, is how many parents the keys have.
    void run_new_keys(std::size_t bursts, Random& random, std::uint64_t networks);
    // Live keys until nothing more goes in.
    void fill_up();

    [[nodiscard]] BucketStore& store() noexcept { return store_; }
    [[nodiscard]] std::uint64_t admitted() const noexcept { return admitted_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    [[nodiscard]] std::uint64_t added() const noexcept { return added_; }
    // Keys of the set that are not in the table.
    [[nodiscard]] std::uint64_t lost();
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    struct Work {
        TableKey key;
        Entry* entry = nullptr;
    };
    using Burst = std::array<Work, kBurst>;
    struct NewWork {
        TableKey key;
        BucketTable::Lines lines;  // of the key
        TableKey parent;
        BucketTable::Lines parent_lines;
    };
    using NewBurst = std::array<NewWork, kBurst>;

    [[nodiscard]] TableKey table_key(std::uint64_t number) const noexcept;
    [[nodiscard]] Entry* add(const TableKey& key) noexcept;
    void file(Entry& entry, const TableKey& key) noexcept;
    [[nodiscard]] Entry* place_slow(const TableKey& key) noexcept;
    void ask(std::span<Work> burst, Random& random) noexcept;
    void ask_aes(std::span<Work> burst, Random& random) noexcept;
    void decide(std::span<Work> burst) noexcept;
    void charge_entry(Entry& entry, const Limit& limit) noexcept;
    void ask_new(std::span<NewWork> burst, Random& random, std::uint64_t networks) noexcept;
    void ask_new_aes(std::span<NewWork> burst, Random& random, std::uint64_t networks) noexcept;
    void decide_new(std::span<const NewWork> burst) noexcept;
    void charge_parent(const NewWork& work) noexcept;

    std::size_t keys_;
    std::uint64_t first_ = 0;  // number of the first key that is in the table
    KeyHasher hash_;
    Limit numbers_;
    Limit wider_numbers_;
    AnyLimit limit_;
    AnyLimit wider_;
    std::array<SlotRow, 2> rows_{};
    BucketStore store_;
    Now now_;
    std::uint64_t admitted_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t added_ = 0;
};

}  // namespace sluice::bench
