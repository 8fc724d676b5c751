#include "lib/engine/check/check_limit.hpp"

#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/check/bucket_allocator.hpp"
#include "lib/engine/check/debt_migration.hpp"
#include "lib/engine/check/gauge_check.hpp"
#include "lib/engine/check/on_full.hpp"
#include "lib/engine/check/own_numbers.hpp"
#include "lib/engine/check/shared_charge.hpp"

namespace sluice {
namespace {

[[gnu::noinline, gnu::cold]] bool allocate_slow(LimitCheck& check, const LoadedLimit& limit,
                                                const LoadedRule& rule,
                                                const CheckContext& context) noexcept {
    if (BucketAllocator{check, limit, rule, context}.run()) {
        return true;
    }
    check.conformance = without_place(rule, context);
    return false;
}

// The pool has no line for one more charge: as if the key had found no place.
[[gnu::noinline, gnu::cold]] void no_room_slow(LimitCheck& check, const LoadedLimit& limit,
                                               const LoadedRule& rule,
                                               const CheckContext& context) noexcept {
    count_event(context, TableEvent::PoolFull);
    check.entry->release();
    check.entry = nullptr;
    if (rule.on_full == OnFull::Coarsen && BucketAllocator{check, limit, rule, context}.parent()) {
        check.conformance = ask_bucket(check, context);
        return;
    }
    check.conformance = without_place(rule, context);
}

// A bucket that is there, under the numbers that its key has now. False: there was no memory for
// that, and on_full has decided.
[[gnu::noinline]] bool bring_under_own_slow(LimitCheck& check, const LoadedLimit& limit,
                                            const LoadedRule& rule,
                                            const CheckContext& context) noexcept {
    const OwnNumbers own = own_numbers(check, limit);
    if (context.core.buckets.registry.bring_under(*check.entry, own, context.now)) {
        check.numbers = own.numbers != nullptr ? own.numbers : check.numbers;
        return true;
    }
    no_room_slow(check, limit, rule, context);
    return false;
}

}  // namespace

Color color_of(std::uint8_t dscp) noexcept {
    const unsigned af_class = dscp >> 3;
    const unsigned precedence = (dscp >> 1) & 3U;
    const bool assured = (dscp & 1U) == 0 && af_class >= 1 && af_class <= 4;
    if (!assured || precedence <= 1) {
        return Color::Green;
    }
    return precedence == 2 ? Color::Yellow : Color::Red;
}

void check_limit(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                 const CheckContext& context) noexcept {
    BucketStore& store = context.core.buckets;
    const TableKey own = check.key;
    bool without_place = false;
    Entry* entry = check.entry;
    if (entry == nullptr || entry->slot_and_tag() != check.key.slot_and_tag) {
        entry = store.keys.find(check.key);
    }
    if (entry != nullptr) [[likely]] {
        store.registry.update(*entry, context.now);
        entry->hold();
        check.entry = entry;
        check.numbers = &limit.limit;
        if (limit.overridden && !bring_under_own_slow(check, limit, rule, context)) [[unlikely]] {
            return;
        }
    } else if (!allocate_slow(check, limit, rule, context)) {
        check.entry = nullptr;
        return;
    } else {
        without_place = check.entry->stamp().aggregation_level != 0;
    }
    check.conformance = ask_bucket(check, context);
    if (check.conformance == Conformance::NoRoom) [[unlikely]] {
        no_room_slow(check, limit, rule, context);
        without_place = check.entry != nullptr && check.entry->stamp().aggregation_level != 0;
    }
    if (limit.migrating_to && limit.shared == 0) [[unlikely]] {
        check_others(check, own, {limit, rule, context});
    }
    if (without_place) [[unlikely]] {
        migrate_debt(check, own, {limit, rule, context});
    }
    if (limit.shared != 0 && check.conformance == Conformance::Green) {
        check.conformance = ask_ledger(check, rule, context);
    } else if (limit.cluster.box_unsynced != 0 && check.conformance == Conformance::Green) {
        check.conformance = ask_gauges(check, context);
    }
}

bool check_at_level(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                    const CheckContext& context, std::uint8_t aggregation_level) noexcept {
    BucketStore& store = context.core.buckets;
    check.entry = aggregation_level == 0 ? store.keys.find(check.key) : nullptr;
    if (check.entry != nullptr) {
        store.registry.update(*check.entry, context.now);
        check.entry->hold();
        check.numbers = &limit.limit;
    } else if (!BucketAllocator{check, limit, rule, context}.at_level(aggregation_level)) {
        check.entry = nullptr;
    }
    if (check.entry != nullptr) {
        check.conformance = ask_bucket(check, context);
        if (check.conformance != Conformance::NoRoom) {
            return true;
        }
        count_event(context, TableEvent::PoolFull);
        check.entry->release();
    }
    (void)without_place(rule, context);
    return false;
}

void commit(LimitCheck& check, const CheckContext& context, bool spends, bool rejected) noexcept {
    Entry& entry = *check.entry;
    BucketStore& store = context.core.buckets;
    const bool admitted = is_admitted(check.conformance) || check.reserved;
    if (!(spends && admitted) && !rejected) {
        entry.release();
        return;
    }
    if (is_shared(entry, context)) [[unlikely]] {
        commit_shared(check, context, rejected);
    } else {
        Cell cell = store.registry.cell_of(entry);
        const auto* token = std::get_if<TokenBucketLimit>(check.numbers);
        if (rejected) {
            charge(cell, *check.numbers, store.registry.pool(), context.now,
                   {check.cost, Conformance::Red});
        } else if (token != nullptr) [[likely]] {
            Gcra bucket = bucket_in(cell, token->gcra);
            charge(bucket, token->gcra, context.now.at, check.cost);
            put_bucket(cell, bucket, token->gcra);
        } else {
            ConnectionStart start;
            charge(
                cell, *check.numbers, store.registry.pool(), context.now,
                {check.cost, check.conformance, start_of(check, context, start), value_of(check)});
        }
        store.registry.write(entry, cell, context.now);
    }
    if (entry.stamp().aggregation_level != 0) [[unlikely]] {
        store.note_parent(entry);
    }
    entry.release();
}

}  // namespace sluice
