#pragma once
#include "lib/base/result.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace sluice {

// A view of the entries in the workers' tables, added up over all workers. By default: of tables
// that are empty.
struct TableView {
    // Live entries of a limit, and accounts of it that a worker has amounts of which may not be in
    // any total yet.
    std::function<std::uint64_t(LimitSlot)> uses = [](LimitSlot) { return std::uint64_t{0}; };
    // How many of the changes of numbers the slowest worker has brought all of its entries under.
    std::function<std::uint64_t()> settled = [] { return UINT64_MAX; };
};

// The fate of keys that are moving when rules are loaded.
enum class Moves : bool {
    GoOn,   // workers may not all know yet that they move
    Ended,  // all do, and have told each other what they had to
};

// The fate of keys that owe more than the numbers of their limits that are loaded allow.
enum class Forgives : bool {
    Nothing,  // what was used stays used
    Excess,   // they owe no more than a fresh bucket has; once for each change of the numbers
};

// Terms on which a set takes the place of another.
struct AssignTerms {
    Moves moves = Moves::GoOn;
    Forgives forgives = Forgives::Nothing;
};

// Slots, versions and pending entry changes of a rule set, for a process that maps a table another
// process has written.
struct SlotsImage {
    std::uint64_t changes = 0;
    // Identity, numbers (`limit`, `coarser`, `previous`), slot, version, `overridden`, whether it
    // is `shared` and `forgiven`, `rss_mapping`, `migrating_to` and `migrated_from`; no more.
    std::vector<LoadedLimit> limits;
    // The same of slots that limits had before their keys moved to other workers.
    std::vector<LoadedLimit> moved;

    // True if every limit has a slot of its own, was `migrated_from` others among `moved` only, and
    // versions and changes are what they can be.
    [[nodiscard]] bool is_sound() const;
};

// Assigns slots of the tables' entries to limits, and keeps the numbers that each had while there
// may still be entries written under them. A limit keeps its slot, and so its buckets, over
// reloads; one that left the rules keeps it until its last entry has ended.
//
// Where the packets of a limit's keys meet other workers than before (`rss_mapping`), the limit is
// `migrating_to` at first: it keeps its slot, and workers count what others hold. Once all of them
// have adopted that, and have told each other what they had to, Moves::Ended gives it another slot:
// entries under the one before are charged no more, and workers take over what they owe.
class LimitSlots {
public:
    // Limits that have left a tenant's rules, while their buckets are in debt and it brings others.
    static constexpr std::size_t kMostGoneOfTenant = 512;

    LimitSlots();
    // Slots as an earlier process had them, whose entries may still lie in the tables: is_sound().
    explicit LimitSlots(const SlotsImage& image);

    // The image that the next process needs to read the tables' entries as this one does.
    [[nodiscard]] SlotsImage image() const;

    // Gives every limit of the set its slot, version and former numbers. Refused (TooMany) when too
    // few slots are free, or when numbers have changed again so soon that entries of too many
    // versions may lie in the tables; the set is as it was then.
    [[nodiscard]] Result<Done> assign(LoadedSet& set, const TableView& tables, AssignTerms terms);

    // True if limits are moving, as the latest assign() left them.
    [[nodiscard]] bool is_migrating() const { return moving() != 0; }

private:
    struct Kept {
        LoadedLimit limit;
        bool in_rules = true;

        [[nodiscard]] bool is_migrating() const;
    };
    using Limits = std::map<std::uint64_t, Kept>;  // by identity
    using Moved = std::map<LimitSlot, LoadedLimit>;

    [[nodiscard]] std::size_t moving() const;  // how many limits are
    [[nodiscard]] Result<Done> check(const LoadedSet& set, AssignTerms terms) const;
    [[nodiscard]] Result<Done> check_tenants(const LoadedSet& set) const;
    void forget_settled_changes(std::uint64_t settled);
    void free_what_ended(const TableView& tables);
    void end_moves();
    [[nodiscard]] Kept take_over(const LoadedLimit& limit, std::uint64_t change, Forgives forgives);
    static void move_if_remapped(const LoadedLimit& before, LoadedLimit& next);
    [[nodiscard]] bool have_changed_too_often(const LoadedLimit& before, const LoadedLimit& after,
                                              Forgives forgives) const;
    void free_moved(const TableView& tables);
    void list_gone(LoadedSet& set) const;
    [[nodiscard]] bool is_pending(std::uint8_t change) const noexcept;

    Limits limits_;
    Moved moved_;
    std::deque<LimitSlot> free_;
    std::deque<std::uint64_t> pending_;  // changes of numbers that may not have reached every entry
    std::uint64_t changes_ = 0;
};

}  // namespace sluice
