#include "lib/rules/load/limit_slots.hpp"

#include "lib/bucket/meter/lifetime.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/bucket/table/own_counts.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

namespace sluice {
namespace {

// Buckets under other numbers of their keys are brought back like those under former numbers.
bool same_numbers(const LoadedLimit& before, const LoadedLimit& after) {
    return before.limit == after.limit && before.coarser == after.coarser &&
           (after.overridden || !before.overridden);
}

// Numbers of keys that differ are not known of a bucket in a line of the pool: of windows they come
// along (OwnCounts).
bool is_forgivable(const LoadedLimit& after) {
    const Counting counting = counting_of(after.limit);
    return counting != Counting::Connections && counting != Counting::Refusals &&
           (!after.overridden || gcra_of(after.limit) != nullptr);
}

bool is_lowered(const LoadedLimit& before, const LoadedLimit& after) {
    const auto lowered = [&](std::size_t level, const AnyLimit& numbers) {
        return level < before.most_used.size() && before.most_used[level] > most_used(numbers);
    };
    bool any = lowered(0, after.limit);
    for (std::size_t level = 1; level <= after.coarser.size(); ++level) {
        any = any || lowered(level, after.coarser[level - 1]);
    }
    return any;
}

// Windows whose keys have other counts than those that were forgiven under last.
bool has_other_counts(const LoadedLimit& before, const LoadedLimit& after) {
    return after.own_counts != nullptr &&
           (before.own_counts == nullptr || !(*before.own_counts == *after.own_counts));
}

// Numbers that stay the same are forgiven under as well, unless they were already.
bool is_new_version(const LoadedLimit& before, const LoadedLimit& after, Forgives forgives) {
    return !same_numbers(before, after) || has_other_counts(before, after) ||
           (forgives == Forgives::Excess && !before.forgiven && is_forgivable(after) &&
            is_lowered(before, after));
}

bool changes_numbers(const LoadedSet& set, const auto& limits, Forgives forgives) {
    bool changes = false;
    for (const LoadedRule& rule : set.rules) {
        for_each_state(rule, [&](const LoadedLimit& limit) {
            const auto old = limits.find(limit.identity);
            changes = changes ||
                      (old != limits.end() && is_new_version(old->second.limit, limit, forgives));
        });
    }
    return changes;
}

void note_most_used(LoadedLimit& limit) {
    limit.most_used.resize(std::max(limit.most_used.size(), limit.coarser.size() + 1));
    for (std::size_t level = 0; level <= limit.coarser.size(); ++level) {
        const AnyLimit& numbers = level == 0 ? limit.limit : limit.coarser[level - 1];
        limit.most_used[level] = std::max(limit.most_used[level], most_used(numbers));
    }
}

// The numbers of `after` from now on; entries under those of `limit` are brought under them.
void renumber(LoadedLimit& limit, const LoadedLimit& after, std::uint64_t change,
              Forgives forgives) {
    if (!is_new_version(limit, after, forgives)) {
        return;
    }
    const bool forgiven = forgives == Forgives::Excess && is_forgivable(after);
    note_most_used(limit);
    limit.previous.insert(limit.previous.begin(),
                          {.limit = limit.limit,
                           .coarser = limit.coarser,
                           .version = limit.version,
                           .change = static_cast<std::uint8_t>(change % kRememberedChanges),
                           .forgiven = forgiven,
                           .own_counts = after.own_counts});
    limit.forgiven = forgiven;
    limit.own_counts = after.own_counts;
    limit.version = static_cast<std::uint8_t>((limit.version + 1) % kNumberVersions);
    limit.limit = after.limit;
    limit.coarser = after.coarser;
    limit.overridden = after.overridden;
}

bool is_sound(const LoadedLimit& limit) {
    const bool versions =
        limit.version < kNumberVersions && limit.previous.size() < kNumberVersions &&
        std::all_of(
            limit.previous.begin(), limit.previous.end(),
            [](const PreviousNumbers& former) {
                return former.version < kNumberVersions && former.change < kRememberedChanges;
            });
    return versions && limit.slot != 0 && limit.slot < kSlots;
}

// In order: a list of all is one copy.
constexpr auto kAllSlots = [] {
    std::array<LimitSlot, kSlots - 1> slots{};
    std::iota(slots.begin(), slots.end(), LimitSlot{1});
    return slots;
}();

}  // namespace

LimitSlots::LimitSlots() : free_(kAllSlots.begin(), kAllSlots.end()) {}

bool SlotsImage::is_sound() const {
    std::set<std::uint16_t> slots;
    std::set<std::uint64_t> identities;
    for (const LoadedLimit& limit : moved) {
        if (!sluice::is_sound(limit) || !slots.insert(limit.slot).second) {
            return false;
        }
    }
    const std::set<std::uint16_t> of_moved = slots;
    // A former slot has former slots as well.
    const auto migrated_from_moved = [&of_moved](const LoadedLimit& limit) {
        return std::all_of(limit.migrated_from.begin(), limit.migrated_from.end(),
                           [&](const MigratedFrom& from) {
                               return from.slot != limit.slot && of_moved.contains(from.slot);
                           });
    };
    return std::all_of(moved.begin(), moved.end(), migrated_from_moved) &&
           std::all_of(limits.begin(), limits.end(), [&](const LoadedLimit& limit) {
               return sluice::is_sound(limit) && slots.insert(limit.slot).second &&
                      identities.insert(limit.identity).second && migrated_from_moved(limit);
           });
}

LimitSlots::LimitSlots(const SlotsImage& image) : changes_{image.changes} {
    std::set<LimitSlot> taken;
    std::set<std::uint64_t> pending;
    const auto take = [&](const LoadedLimit& limit) {
        taken.insert(limit.slot);
        for (const PreviousNumbers& former : limit.previous) {
            // The latest change that it can be.
            pending.insert(changes_ - (changes_ - former.change) % kRememberedChanges);
        }
    };
    for (const LoadedLimit& limit : image.limits) {
        limits_.emplace(limit.identity, Kept{limit, true});
        take(limit);
    }
    for (const LoadedLimit& limit : image.moved) {
        moved_.emplace(limit.slot, limit);
        take(limit);
    }
    for (const std::uint64_t change : pending) {
        pending_.push_back(change);
    }
    for (std::size_t slot = 1; slot < kSlots; ++slot) {
        if (!taken.contains(static_cast<LimitSlot>(slot))) {
            free_.push_back(static_cast<LimitSlot>(slot));
        }
    }
}

SlotsImage LimitSlots::image() const {
    SlotsImage image{.changes = changes_, .limits = {}, .moved = {}};
    for (const auto& [identity, kept] : limits_) {
        image.limits.push_back(kept.limit);
    }
    for (const auto& [slot, limit] : moved_) {
        image.moved.push_back(limit);
    }
    return image;
}

Result<Done> LimitSlots::assign(LoadedSet& set, const TableView& tables, AssignTerms terms) {
    forget_settled_changes(tables.settled());
    free_what_ended(tables);
    if (Result<Done> fits = check(set, terms); !fits) {
        return fits;
    }
    if (terms.moves == Moves::Ended) {
        end_moves();
    }
    if (changes_numbers(set, limits_, terms.forgives)) {
        ++changes_;
        pending_.push_back(changes_);
    }
    for (auto& [identity, kept] : limits_) {
        kept.in_rules = false;
    }
    for (LoadedRule& rule : set.rules) {
        for_each_state(rule, [&](LoadedLimit& limit) {
            Kept kept = take_over(limit, changes_, terms.forgives);
            limit = limits_.insert_or_assign(limit.identity, std::move(kept)).first->second.limit;
        });
    }
    list_gone(set);
    set.changes = changes_;
    return Done{};
}

void LimitSlots::list_gone(LoadedSet& set) const {
    set.gone.clear();
    for (const auto& [identity, kept] : limits_) {
        if (!kept.in_rules) {
            set.gone.push_back(kept.limit);
        }
    }
    for (const auto& [slot, limit] : moved_) {
        set.gone.push_back(limit);
    }
}

bool LimitSlots::Kept::is_migrating() const {
    return in_rules && limit.migrating_to;
}

std::size_t LimitSlots::moving() const {
    return static_cast<std::size_t>(
        std::count_if(limits_.begin(), limits_.end(),
                      [](const auto& item) { return item.second.is_migrating(); }));
}

// The entries of the slot before say what they always said, also to the next process. It keeps the
// slots before it: an amount that reaches it late finds what its key owed there.
void LimitSlots::end_moves() {
    for (auto& [identity, kept] : limits_) {
        if (!kept.is_migrating()) {
            continue;
        }
        LoadedLimit& limit = kept.limit;
        const Combine combine = *limit.migrating_to;
        limit.migrating_to.reset();
        LoadedLimit before = limit;
        before.shared = combine == Combine::Most ? 1 : 0;
        moved_.emplace(limit.slot, std::move(before));
        limit.migrated_from.insert(limit.migrated_from.begin(), {limit.slot, combine});
        limit.slot = free_.front();
        free_.pop_front();
        limit.version = 0;
        limit.previous.clear();
    }
}

Result<Done> LimitSlots::check(const LoadedSet& set, AssignTerms terms) const {
    const std::size_t moved = terms.moves == Moves::Ended ? moving() : 0;
    if (moved > free_.size()) {
        return Error{Errc::TooMany, "too many limits for their keys to move to other workers"};
    }
    std::size_t added = moved;
    for (const LoadedRule& rule : set.rules) {
        bool too_often = false;
        for_each_state(rule, [&](const LoadedLimit& limit) {
            const auto old = limits_.find(limit.identity);
            if (old == limits_.end()) {
                ++added;
            } else {
                too_often |= have_changed_too_often(old->second.limit, limit, terms.forgives);
            }
        });
        if (too_often) {
            return Error{Errc::TooMany, "the numbers of rule " + rule.id +
                                            " have changed too often in a short time: buckets "
                                            "are still being rewritten; try again in a second"};
        }
    }
    if (const Result<Done> room = check_tenants(set); !room) {
        return room;
    }
    if (added > free_.size()) {
        return Error{Errc::TooMany,
                     "too many new limits while buckets of removed ones are still in debt; try "
                     "again later"};
    }
    if (pending_.size() + 1 >= kRememberedChanges &&
        changes_numbers(set, limits_, terms.forgives)) {
        return Error{Errc::TooMany,
                     "numbers have changed too often in a short time: buckets are still being "
                     "rewritten; try again in a second"};
    }
    return Done{};
}

bool LimitSlots::have_changed_too_often(const LoadedLimit& before, const LoadedLimit& after,
                                        Forgives forgives) const {
    const auto is_full = [&](const LoadedLimit& limit) {
        return limit.previous.size() + 1 >= kNumberVersions &&
               is_new_version(limit, after, forgives);
    };
    return is_full(before) ||
           std::any_of(before.migrated_from.begin(), before.migrated_from.end(),
                       [&](const MigratedFrom& from) { return is_full(moved_.at(from.slot)); });
}

// Former numbers that no entry can carry any more.
void LimitSlots::forget_settled_changes(std::uint64_t settled) {
    while (!pending_.empty() && pending_.front() <= settled) {
        pending_.pop_front();
    }
    const auto forget = [this](LoadedLimit& limit) {
        std::erase_if(limit.previous,
                      [this](const PreviousNumbers& former) { return !is_pending(former.change); });
    };
    for (auto& [identity, kept] : limits_) {
        forget(kept.limit);
    }
    for (auto& [slot, limit] : moved_) {
        forget(limit);
    }
}

bool LimitSlots::is_pending(std::uint8_t change) const noexcept {
    return std::any_of(pending_.begin(), pending_.end(), [change](std::uint64_t pending) {
        return pending % kRememberedChanges == change;
    });
}

// A limit that was already gone from the set before: no worker files entries for it any more.
void LimitSlots::free_what_ended(const TableView& tables) {
    free_moved(tables);
    std::erase_if(limits_, [&](const auto& item) {
        const Kept& kept = item.second;
        if (kept.in_rules || !kept.limit.migrated_from.empty() ||
            tables.uses(kept.limit.slot) != 0) {
            return false;
        }
        free_.push_back(kept.limit.slot);
        return true;
    });
}

// A former slot is over once no table has an entry of it and no worker an amount: nobody charges
// it, and nothing can reach it any more. That is the one end of a move.
void LimitSlots::free_moved(const TableView& tables) {
    std::set<LimitSlot> over;
    for (const auto& [slot, limit] : moved_) {
        if (tables.uses(slot) == 0) {
            over.insert(slot);
        }
    }
    const auto leave = [&over](LoadedLimit& limit) {
        std::erase_if(limit.migrated_from,
                      [&over](const MigratedFrom& from) { return over.contains(from.slot); });
    };
    for (const LimitSlot slot : over) {
        moved_.erase(slot);
        free_.push_back(slot);
    }
    for (auto& [identity, kept] : limits_) {
        leave(kept.limit);
    }
    for (auto& [slot, limit] : moved_) {
        leave(limit);
    }
}

LimitSlots::Kept LimitSlots::take_over(const LoadedLimit& limit, std::uint64_t change,
                                       Forgives forgives) {
    Kept next{limit, true};
    const auto old = limits_.find(limit.identity);
    if (old == limits_.end()) {
        next.limit.slot = free_.front();
        free_.pop_front();
        next.limit.version = 0;
        next.limit.previous.clear();
        return next;
    }
    const LoadedLimit& before = old->second.limit;
    LoadedLimit now = before;
    renumber(now, limit, change, forgives);
    next.limit.slot = now.slot;
    next.limit.version = now.version;
    next.limit.previous = std::move(now.previous);
    next.limit.most_used = std::move(now.most_used);
    next.limit.forgiven = now.forgiven;
    next.limit.forgives_own = forgives == Forgives::Excess;
    next.limit.migrated_from = before.migrated_from;
    for (const MigratedFrom& from : before.migrated_from) {
        renumber(moved_.at(from.slot), limit, change, forgives);
    }
    move_if_remapped(before, next.limit);
    return next;
}

// A limit that was away has its entries where they were.
void LimitSlots::move_if_remapped(const LoadedLimit& before, LoadedLimit& next) {
    next.migrating_to = before.migrating_to;
    if (before.rss_mapping != next.rss_mapping && !before.migrating_to) {
        next.migrating_to = before.shared != 0 ? Combine::Most : Combine::Sum;
    }
}

}  // namespace sluice
