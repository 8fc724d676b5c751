#include "lib/rules/limit_slots.hpp"

#include "lib/rules/slots.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {
namespace {

// Buckets under other numbers of their keys are brought back like those under former numbers.
bool same_numbers(const MeteredLimit& before, const MeteredLimit& after) {
    return before.limit == after.limit && before.coarser == after.coarser &&
           (after.overridden || !before.overridden);
}

bool changes_numbers(const RuleSet& set, const auto& limits) {
    bool changes = false;
    for (const Rule& rule : set.rules) {
        for_each_state(rule, [&](const MeteredLimit& limit) {
            const auto old = limits.find(limit.identity);
            changes = changes || (old != limits.end() && !same_numbers(old->second.limit, limit));
        });
    }
    return changes;
}

}  // namespace

LimitSlots::LimitSlots(TableView view) : view_{std::move(view)} {
    for (std::size_t slot = 1; slot < kSlots; ++slot) {
        free_.push_back(static_cast<LimitSlot>(slot));
    }
}

bool SlotsImage::is_sound() const {
    std::set<std::uint16_t> slots;
    std::set<std::uint64_t> identities;
    return std::all_of(limits.begin(), limits.end(), [&](const MeteredLimit& limit) {
        const bool versions =
            limit.version < kNumberVersions && limit.former.size() < kNumberVersions &&
            std::all_of(
                limit.former.begin(), limit.former.end(),
                [](const FormerNumbers& former) {
                    return former.version < kNumberVersions && former.change < kRememberedChanges;
                });
        return versions && limit.slot != 0 && limit.slot < kSlots &&
               slots.insert(limit.slot).second && identities.insert(limit.identity).second;
    });
}

LimitSlots::LimitSlots(TableView view, const SlotsImage& image)
    : view_{std::move(view)}, changes_{image.changes} {
    std::set<LimitSlot> taken;
    std::set<std::uint64_t> pending;
    for (const MeteredLimit& limit : image.limits) {
        limits_.emplace(limit.identity, Kept{limit, true});
        taken.insert(limit.slot);
        for (const FormerNumbers& former : limit.former) {
            // The latest change that it can be.
            pending.insert(changes_ - (changes_ - former.change) % kRememberedChanges);
        }
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
    SlotsImage image{.changes = changes_, .limits = {}};
    for (const auto& [identity, kept] : limits_) {
        image.limits.push_back(kept.limit);
    }
    return image;
}

Result<Done> LimitSlots::assign(RuleSet& set) {
    forget_settled_changes();
    free_what_ended();
    if (Result<Done> fits = check(set); !fits) {
        return fits;
    }
    if (changes_numbers(set, limits_)) {
        ++changes_;
        pending_.push_back(changes_);
    }
    for (auto& [identity, kept] : limits_) {
        kept.in_rules = false;
    }
    for (Rule& rule : set.rules) {
        for_each_state(rule, [&](MeteredLimit& limit) {
            limit = limits_.insert_or_assign(limit.identity, take_over(limit, changes_))
                        .first->second.limit;
        });
    }
    set.gone.clear();
    for (const auto& [identity, kept] : limits_) {
        if (!kept.in_rules) {
            set.gone.push_back(kept.limit);
        }
    }
    set.changes = changes_;
    set.load = ++loads_;
    list_slots(set);
    return Done{};
}

Result<Done> LimitSlots::check(const RuleSet& set) const {
    std::size_t added = 0;
    for (const Rule& rule : set.rules) {
        bool too_often = false;
        for_each_state(rule, [&](const MeteredLimit& limit) {
            const auto old = limits_.find(limit.identity);
            if (old == limits_.end()) {
                ++added;
            } else {
                too_often |= old->second.limit.former.size() + 1 >= kNumberVersions &&
                             !same_numbers(old->second.limit, limit);
            }
        });
        if (too_often) {
            return Error{Errc::TooMany, "the numbers of rule " + rule.id +
                                            " have changed too often in a short time: buckets "
                                            "are still being rewritten; try again in a second"};
        }
    }
    if (added > free_.size()) {
        return Error{Errc::TooMany,
                     "too many new limits while buckets of removed ones are still in debt; try "
                     "again later"};
    }
    if (pending_.size() + 1 >= kRememberedChanges) {
        return Error{Errc::TooMany,
                     "numbers have changed too often in a short time: buckets are still being "
                     "rewritten; try again in a second"};
    }
    return Done{};
}

// Former numbers that no entry can carry any more.
void LimitSlots::forget_settled_changes() {
    const std::uint64_t settled = view_.settled();
    while (!pending_.empty() && pending_.front() <= settled) {
        pending_.pop_front();
    }
    for (auto& [identity, kept] : limits_) {
        std::erase_if(kept.limit.former,
                      [this](const FormerNumbers& former) { return !is_pending(former.change); });
    }
}

bool LimitSlots::is_pending(std::uint8_t change) const noexcept {
    return std::any_of(pending_.begin(), pending_.end(), [change](std::uint64_t pending) {
        return pending % kRememberedChanges == change;
    });
}

// A limit that was already gone from the set before: no worker files entries for it any more.
void LimitSlots::free_what_ended() {
    std::erase_if(limits_, [this](const auto& item) {
        const Kept& kept = item.second;
        if (kept.in_rules || view_.entries(kept.limit.slot) != 0) {
            return false;
        }
        free_.push_back(kept.limit.slot);
        return true;
    });
}

LimitSlots::Kept LimitSlots::take_over(const MeteredLimit& limit, std::uint64_t change) {
    Kept next{limit, true};
    const auto old = limits_.find(limit.identity);
    if (old == limits_.end()) {
        next.limit.slot = free_.front();
        free_.pop_front();
        next.limit.version = 0;
        next.limit.former.clear();
        return next;
    }
    const MeteredLimit& before = old->second.limit;
    next.limit.slot = before.slot;
    next.limit.version = before.version;
    next.limit.former = before.former;
    if (!same_numbers(before, limit)) {
        next.limit.former.insert(
            next.limit.former.begin(),
            {.limit = before.limit,
             .coarser = before.coarser,
             .version = before.version,
             .change = static_cast<std::uint8_t>(change % kRememberedChanges)});
        next.limit.version = static_cast<std::uint8_t>((before.version + 1) % kNumberVersions);
    }
    return next;
}

}  // namespace sluice
