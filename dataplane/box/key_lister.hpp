#pragma once
#include "dataplane/box/known_keys.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "lib/hash/group_key.hpp"
#include "lib/load/loaded_rules.hpp"
#include "lib/table/limit_registry.hpp"
#include "lib/table/table_reader.hpp"
#include "lib/wire/message.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

// The live keys and bans of a rule, page by page, read from the workers' tables while they go on
// writing them: nobody is asked, and nobody waits. Tables know keys by digests; those whose bytes
// somebody else knows are found there and named.
class KeyLister {
public:
    // Entries that one call looks at, at most: some ms.
    static constexpr std::size_t kMostRead = std::size_t{1} << 19;
    // Of them, what looking for a key in another worker's table takes: two lines of four.
    static constexpr std::size_t kReadsOfAKey = 8;

    KeyLister(const WorkerFleet& workers, const KeyHasher& hash) : workers_{workers}, hash_{hash} {}

    // What keys are called: those whose canonical bytes are known, and a port's pair.
    struct Names {
        std::vector<std::string> keys;
        KnownKeys::PairOf pair_of;
    };
    // `rule` is the one of the set that the request names.
    [[nodiscard]] KeyPage list(const ListKeys& request, const LoadedSet& set,
                               const LoadedRule& rule, const Names& names, Now now);
    // Of the rule's limit of that name.
    [[nodiscard]] OwedKeys count_owed(const CountOwed& request, const LoadedSet& set,
                                      const LoadedRule& rule, Now now);

private:
    struct Named {
        TableKey key;
        std::size_t name;
    };
    // One call: what is looked for, and where it is known.
    struct Walk {
        const ListKeys& request;
        const LoadedRule& rule;
        const Names& names;
        Now now;
        std::vector<const LoadedLimit*> limits;            // or boxes
        std::unordered_multimap<std::uint64_t, Named> of;  // by slot and tag
        std::size_t left = kMostRead;
    };

    // An entry, as it was read.
    struct Found {
        std::size_t worker;
        std::size_t position;
        Entry entry;
    };

    void begin(Walk& walk, const LoadedSet& set);
    void end(const Walk& walk) noexcept;
    void count_in_worker(Walk& walk, const CountOwed& request, OwedKeys& owed);
    [[nodiscard]] std::uint64_t most_used(const Walk& walk, const Found& found,
                                          bool shared) const noexcept;
    void know(Walk& walk) const;
    void read_worker(Walk& walk, KeyPage& page);
    [[nodiscard]] bool is_live(const Walk& walk, const Entry& entry) const noexcept;
    [[nodiscard]] bool is_first(Walk& walk, const Found& found) const noexcept;
    void name(const Walk& walk, const Found& found, ListedKey& listed) const;
    [[nodiscard]] ListedKey listed(const Walk& walk, const Found& found) const;
    void add_up(const Walk& walk, const Entry& entry, std::size_t worker, ListedKey& listed) const;

    const WorkerFleet& workers_;
    KeyHasher hash_;
    LimitRegistry registry_{1};  // reads entries under the numbers of the set
    // By slot: which of the walk's limits, from 1 on.
    std::unique_ptr<std::uint8_t[]> limit_of_ = std::make_unique<std::uint8_t[]>(kSlots);
};

}  // namespace sluice
