#pragma once
#include "dataplane/box/known_keys.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/table/limit_registry.hpp"
#include "lib/bucket/table/previous_tables.hpp"
#include "lib/bucket/table/table_reader.hpp"
#include "lib/engine/key/rule_keys.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/wire/message.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

// The live keys and bans of a rule, page by page, read from the workers' tables while they go on
// writing them: nobody is asked, and nobody waits. Tables know keys by digests; those whose bytes
// somebody else knows are found there and named.
//
// One walk over all that counts: the tables of the workers, and behind them those of earlier
// processes, whose keys are listed as carried over. So are keys under slots that their limit had
// before. A key is listed where it is charged; what was carried over and has been taken over since
// is not listed again.
class KeyLister {
public:
    // Entries that one call looks at, at most, or as many more as one key takes: some ms.
    static constexpr std::size_t kMostRead = std::size_t{1} << 19;
    // Reads of these that looking for a key in another worker's table takes: two lines of four.
    static constexpr std::size_t kReadsOfAKey = 8;

    explicit KeyLister(const KeyHasher& hash) : hash_{hash} {}

    // One worker's buckets, or those of an earlier process.
    struct Table {
        const BucketStore* buckets = nullptr;
        std::uint32_t lcore = 0;
        bool former = false;
        std::size_t process = 0;  // of several former ones
    };
    // `workers` and then those of `former`, which may be nullptr.
    [[nodiscard]] static std::vector<Table> with_former(std::vector<Table> workers,
                                                        const PreviousTables* former);

    // Names of keys: those whose canonical bytes are known, and a port's pair.
    struct Names {
        std::vector<std::string> keys;
        KnownKeys::PairOf pair_of;
    };
    // The tables that are read, the workers' first, and the set in force.
    struct Source {
        std::vector<Table> tables;
        const LoadedSet& set;
        Now now;
    };
    // `rule` is the one of the set that the request names.
    [[nodiscard]] KeyPage list(const ListKeys& request, const Source& source,
                               const LoadedRule& rule, const Names& names);
    // Counts keys of the rule's limit of that name.
    [[nodiscard]] OwedKeys count_owed(const CountOwed& request, const Source& source,
                                      const LoadedRule& rule);

private:
    struct Named {
        TableKey key;
        std::size_t name;
    };
    // One call: what is looked for, and where it is known.
    struct Walk {
        const ListKeys& request;
        const Names& names;
        std::span<const Table> tables;
        Now now;
        const LoadedRule& rule;
        std::size_t workers = 0;                             // of the tables
        std::vector<const LoadedLimit*> limits{};            // or boxes
        std::unordered_multimap<std::uint64_t, Named> of{};  // by slot and tag
        std::size_t left = kMostRead;
    };

    // An entry, as it was read.
    struct Found {
        std::size_t table;
        std::size_t position;
        Entry entry;
    };

    // The use of a key, as its entries have it.
    struct Use {
        std::uint64_t used = 0;
        std::int64_t left_ns = 0;
        bool own_numbers = false;
    };

    [[nodiscard]] Walk begin(const ListKeys& request, const Source& source, const LoadedRule& rule,
                             const Names& names, std::vector<const LoadedLimit*> limits) noexcept;
    void end(const Walk& walk) noexcept;
    void count_in_table(Walk& walk, const CountOwed& request, OwedKeys& owed);
    [[nodiscard]] bool is_listed(Walk& walk, const Found& found) const noexcept;
    void know(Walk& walk) const;
    void read_table(Walk& walk, KeyPage& page);
    [[nodiscard]] const LoadedLimit& limit_of(const Walk& walk, const Entry& entry) const noexcept {
        return *walk.limits[limit_of_[entry.slot()] - std::size_t{1}];
    }
    [[nodiscard]] bool is_live(const Walk& walk, const Entry& entry) const noexcept;
    [[nodiscard]] bool is_carried(const Walk& walk, const Found& found) const noexcept {
        return walk.tables[found.table].former ||
               found.entry.slot() != limit_of(walk, found.entry).slot;
    }
    [[nodiscard]] Entry same_key(Walk& walk, const Found& found, std::size_t table,
                                 LimitSlot slot) const noexcept;
    [[nodiscard]] bool is_first(Walk& walk, const Found& found) const noexcept;
    [[nodiscard]] bool is_taken_over(Walk& walk, const Found& found) const noexcept;
    void add_own_numbers(const Walk& walk, ByteView bytes, ListedKey& listed) const noexcept;
    void name(const Walk& walk, const Found& found, ListedKey& listed) const;
    [[nodiscard]] bool is_boxed(const Walk& walk, const RuleKeys& keys,
                                std::uint8_t key) const noexcept;
    [[nodiscard]] KeyBan ban_of(const Walk& walk, std::uint8_t key, ByteView bytes) const noexcept;
    [[nodiscard]] ListedKey listed(Walk& walk, const Found& found) const;
    [[nodiscard]] std::uint64_t used_in(const Walk& walk, const Entry& entry,
                                        std::size_t table) const;
    void add_entry(const Walk& walk, const Entry& entry, Use& use) const noexcept;
    [[nodiscard]] Use shared_use(Walk& walk, const Found& found, bool shared) const;
    [[nodiscard]] Use carried_use(Walk& walk, const Found& found) const;
    [[nodiscard]] Use use_of(Walk& walk, const Found& found) const;

    KeyHasher hash_;
    LimitRegistry registry_{1};  // reads entries under the numbers of the set
    // By slot: which of the walk's limits, from 1 on.
    std::unique_ptr<std::uint8_t[]> limit_of_ = std::make_unique<std::uint8_t[]>(kSlots);
};

}  // namespace sluice
