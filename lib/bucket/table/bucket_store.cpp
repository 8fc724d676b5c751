#include "lib/bucket/table/bucket_store.hpp"

#include "lib/base/prefetch.hpp"
#include "lib/bucket/table/previous_tables.hpp"
#include "lib/bucket/table/worker_tables.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// A table of two million lines comes round in a million bursts: under a second at line rate.
constexpr std::size_t kSweptLines = 2;
constexpr std::size_t kSweptParents = 1;
// So many times that after numbers have changed: rules may be changed every second, and until every
// entry has been seen again their former numbers are to be remembered. What the sweep rewrites is
// one line after the other; what a packet finds first has to be rewritten before it is judged.
constexpr std::size_t kHurry = 16;
// Entries of a line of memory, and some bursts for it to come.
constexpr std::size_t kRulesAhead = 8;

std::size_t round_of(const BucketTable& keys, const BucketTable& parents) noexcept {
    return std::max({keys.lines() / kSweptLines, parents.lines() / kSweptParents, kSlots}) + 1;
}

}  // namespace

BucketStore::BucketStore(std::size_t key_count, std::size_t pool_lines)
    : keys{key_count},
      parents{parents_for(key_count)},
      registry{pool_lines},
      rules_{kSlots * sizeof(Entry)},
      round_{round_of(keys, parents)} {
    registry.keep_lines_for_parents(parents.slots());
}

BucketStore::BucketStore(const StoreMemory& memory)
    : keys{memory.tables(memory.layout.keys_at(), memory.layout.keys_bytes())},
      parents{memory.tables(memory.layout.parents_at(), memory.layout.parents_bytes())},
      registry{memory.recovery_log(),
               LinePool{memory.at(memory.layout.pool_at()), memory.layout.pool_lines()}},
      rules_{memory.tables(memory.layout.rules_at(), memory.layout.rules_bytes())},
      round_{round_of(keys, parents)} {
    registry.keep_lines_for_parents(parents.slots());
}

void BucketStore::set_worker_tables(const WorkerTables* worker_tables) noexcept {
    worker_tables_ = worker_tables;
    worker_ = worker_tables == nullptr ? 0 : worker_tables->index_of(*this);
    const bool is_one = worker_tables != nullptr && worker_ != worker_tables->workers();
    registry.pool().index().notify(registry.pool(),
                                   is_one ? &worker_tables->connection_owners() : nullptr, worker_);
}

void BucketStore::adopt(std::span<const SlotRow> rows, std::uint64_t changes,
                        Nanoseconds longest_debt, Now now) noexcept {
    const bool was_stale = registry.stale();
    registry.adopt(rows, changes, now.at);
    if (registry.stale() && (!was_stale || steps_ == 0)) {
        begin_round();
    }
    if (previous_ != nullptr) {
        former_until_ = std::max(former_until_, now.at + longest_debt);
        if (former_coarsened(now.at)) {
            former_coarse_until_ = now.at + longest_debt;
        }
    }
    if (coarsened(now.at)) {
        // Slower numbers may make what parents owe last longer.
        coarsened_until(now.at + longest_debt);
    }
}

bool BucketStore::begin_burst(Now now) noexcept {
    registry.note_time(now);
    registry.clear_closed();
    coarsens_ = coarsened(now.at);
    keys.begin_burst();
    parents.begin_burst();
    const std::size_t steps = registry.stale() ? kHurry : 1;
    keys.sweep(steps * kSweptLines, registry, now);
    parents.sweep(steps * kSweptParents, registry, now);
    for (std::size_t i = 0; i < steps; ++i) {
        sweep_rules(now);
    }
    steps_ += steps;
    if (steps_ < round_) {
        return false;
    }
    end_round(now);
    return true;
}

void BucketStore::begin_round() noexcept {
    steps_ = 0;
    settling_ = registry.changes();
}

void BucketStore::end_round(Now now) noexcept {
    settled_ = settling_;
    if (settled_ == registry.changes()) {
        registry.settled();
    }
    begin_round();
    leave_former(now);
}

void BucketStore::set_previous_tables(PreviousTables* previous, std::size_t core) noexcept {
    previous_ = previous;
    former_until_ = previous == nullptr ? Instant{} : previous->until();
    core_ = core;
    if (previous != nullptr && previous->latest_log() != nullptr) {
        registry.go_on_from(*previous->latest_log());
    }
}

bool BucketStore::former_coarsened(Instant now) const noexcept {
    return previous_ != nullptr && (now < former_coarse_until_ || previous_->coarsened(now));
}

// Once in a round is often enough.
void BucketStore::leave_former(Now now) noexcept {
    if (previous_ != nullptr && former_until_ <= now.at) {
        std::exchange(previous_, nullptr)->release(core_);
    }
}

void BucketStore::sweep_rules(Now now) noexcept {
    Entry& rule = rule_entry(static_cast<LimitSlot>(swept_rule_));
    swept_rule_ = (swept_rule_ + 1) % kSlots;
    // One entry a burst: long enough apart that no processor foresees it.
    prefetch0(&rule_entry(static_cast<LimitSlot>((swept_rule_ + kRulesAhead) % kSlots)));
    if (!rule.empty()) [[unlikely]] {
        registry.update(rule, now);
        (void)registry.forget_if_idle(rule, now);
    }
}

}  // namespace sluice
