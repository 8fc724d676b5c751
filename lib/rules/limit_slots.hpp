#pragma once
#include "lib/base/result.hpp"
#include "lib/meter/entry.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace sluice {

// What the workers' tables have to say of their entries, added up over all workers.
struct TableView {
    // Live entries of a limit.
    std::function<std::uint64_t(LimitSlot)> entries;
    // How many of the changes of numbers the slowest worker has brought all of its entries under.
    std::function<std::uint64_t()> settled;
};

// What the slots, versions and changes in entries mean, for whoever finds entries that another
// process has written.
struct SlotsImage {
    std::uint64_t changes = 0;
    // Identity, numbers (`limit`, `coarser`, `former`), slot, version, `overridden`, whether it is
    // `shared`, `spread`, `moving` and `moved_from`; no more.
    std::vector<MeteredLimit> limits;
    // The same of slots that limits had before their keys moved to other workers.
    std::vector<MeteredLimit> moved;

    // Whether every limit has a slot of its own, and versions and changes are what they can be.
    [[nodiscard]] bool is_sound() const;
};

// Which slot of the tables' entries belongs to which limit, and what numbers it had while there may
// still be entries written under them. A limit keeps its slot, and so its buckets, over reloads;
// one that left the rules keeps it until its last entry has ended.
//
// Where the packets of a limit's keys meet other workers than before (`spread`), the limit is
// `moving` at first: it keeps its slot, and workers count what others hold. Once all of them have
// adopted that, and have told each other what they had to, settle_moves() gives it another slot:
// entries under the one before are charged no more, and workers take over what they owe.
class LimitSlots {
public:
    explicit LimitSlots(TableView view);
    // As an earlier process had them, whose entries may still lie in the tables: is_sound().
    LimitSlots(TableView view, const SlotsImage& image);

    // What the next process needs to read the tables' entries as this one does.
    [[nodiscard]] SlotsImage image() const;

    // Gives every limit of the set its slot, version and former numbers, and lists what the workers
    // need of them. Refused (TooMany) when no slot is free, or when numbers have changed again so
    // soon that entries of too many versions may lie in the tables; nothing is changed then.
    [[nodiscard]] Result<Done> assign(RuleSet& set);

    // Whether limits are moving, as the latest assign() left them.
    [[nodiscard]] bool is_moving() const;
    // They have moved: gives each of them another slot. `set` is the one that was assigned last.
    // Refused (TooMany) when there are not enough; nothing is changed then.
    [[nodiscard]] Result<Done> settle_moves(RuleSet& set);

private:
    struct Kept {
        MeteredLimit limit;
        bool in_rules = true;
    };
    using Limits = std::map<std::uint64_t, Kept>;  // by identity
    using Moved = std::map<LimitSlot, MeteredLimit>;

    [[nodiscard]] Result<Done> check(const RuleSet& set) const;
    void forget_settled_changes();
    void free_what_ended();
    [[nodiscard]] Kept take_over(const MeteredLimit& limit, std::uint64_t change);
    static void move_if_spread(const MeteredLimit& before, MeteredLimit& next);
    [[nodiscard]] bool have_changed_too_often(const MeteredLimit& before,
                                              const MeteredLimit& after) const;
    void free_moved();
    void list_gone(RuleSet& set) const;
    [[nodiscard]] bool is_pending(std::uint8_t change) const noexcept;

    TableView view_;
    Limits limits_;
    Moved moved_;
    std::deque<LimitSlot> free_;
    std::deque<std::uint64_t> pending_;  // changes of numbers that may not have reached every entry
    std::uint64_t changes_ = 0;
    std::uint64_t loads_ = 0;
};

}  // namespace sluice
