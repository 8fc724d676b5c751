#include "lib/pipeline/look_at.hpp"

#include "lib/meter/bucket_in.hpp"
#include "lib/meter/gcra.hpp"
#include "lib/pipeline/ask_bucket.hpp"
#include "lib/pipeline/debts_elsewhere.hpp"
#include "lib/pipeline/placing.hpp"
#include "lib/pipeline/shared_charge.hpp"

namespace sluice {
namespace {

[[gnu::noinline, gnu::cold]] bool place_slow(Look& look, const LoadedLimit& limit,
                                             const LoadedRule& rule,
                                             const Judging& judging) noexcept {
    return Placing{look, limit, rule, judging}.run();
}

// Its pool has no line for one more charge: as if the key had found no place.
[[gnu::noinline, gnu::cold]] void no_room_slow(Look& look, const LoadedLimit& limit,
                                               const LoadedRule& rule,
                                               const Judging& judging) noexcept {
    count_event(judging, TableEvent::PoolFull);
    look.entry->release();
    look.entry = nullptr;
    if (rule.on_full == OnFull::Coarsen && Placing{look, limit, rule, judging}.parent()) {
        look.judgement = ask_bucket(look, judging);
        return;
    }
    const bool open = rule.on_full == OnFull::Open;
    count_event(judging, open ? TableEvent::Open : TableEvent::Closed);
    look.judgement = open ? Judgement::Green : Judgement::NoRoom;
}

// A bucket that is there, under the numbers that its key has now. False: there was no memory for
// that, and on_full has decided.
[[gnu::noinline]] bool bring_under_own_slow(Look& look, const LoadedLimit& limit,
                                            const LoadedRule& rule,
                                            const Judging& judging) noexcept {
    const OwnNumbers own = own_numbers(look, limit);
    if (judging.core.buckets.tenants.bring_under(*look.entry, own, judging.now)) {
        look.numbers = own.numbers != nullptr ? own.numbers : look.numbers;
        return true;
    }
    no_room_slow(look, limit, rule, judging);
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

void look_at(Look& look, const LoadedLimit& limit, const LoadedRule& rule,
             const Judging& judging) noexcept {
    BucketStore& store = judging.core.buckets;
    const FiledKey own = look.key;
    bool without_place = false;
    Entry* entry = look.entry;
    if (entry == nullptr || entry->filed() != look.key.filed) {
        entry = store.keys.find(look.key);
    }
    if (entry != nullptr) [[likely]] {
        store.tenants.update(*entry, judging.now);
        entry->hold();
        look.entry = entry;
        look.numbers = &limit.limit;
        if (limit.overridden && !bring_under_own_slow(look, limit, rule, judging)) [[unlikely]] {
            return;
        }
    } else if (!place_slow(look, limit, rule, judging)) {
        look.entry = nullptr;
        return;
    } else {
        without_place = look.entry->stamp().step != 0;
    }
    look.judgement = ask_bucket(look, judging);
    if (look.judgement == Judgement::NoRoom) [[unlikely]] {
        no_room_slow(look, limit, rule, judging);
        without_place = look.entry != nullptr && look.entry->stamp().step != 0;
    }
    if (limit.moving && limit.shared == 0) [[unlikely]] {
        weigh_others(look, own, {limit, rule, judging});
    }
    if (without_place) [[unlikely]] {
        bring_debts(look, own, {limit, rule, judging});
    }
    if (limit.shared != 0 && look.judgement == Judgement::Green) {
        look.judgement = ask_ledger(look, rule, judging);
    }
}

bool look_at_step(Look& look, const LoadedLimit& limit, const LoadedRule& rule,
                  const Judging& judging, std::uint8_t step) noexcept {
    BucketStore& store = judging.core.buckets;
    look.entry = step == 0 ? store.keys.find(look.key) : nullptr;
    if (look.entry != nullptr) {
        store.tenants.update(*look.entry, judging.now);
        look.entry->hold();
        look.numbers = &limit.limit;
    } else if (!Placing{look, limit, rule, judging}.at_step(step)) {
        look.entry = nullptr;
    }
    if (look.entry != nullptr) {
        look.judgement = ask_bucket(look, judging);
        if (look.judgement != Judgement::NoRoom) {
            return true;
        }
        count_event(judging, TableEvent::PoolFull);
        look.entry->release();
    }
    count_event(judging, rule.on_full == OnFull::Open ? TableEvent::Open : TableEvent::Closed);
    return false;
}

void settle(Look& look, const Judging& judging, bool spends, bool rejected) noexcept {
    Entry& entry = *look.entry;
    BucketStore& store = judging.core.buckets;
    const bool admitted = look.judgement == Judgement::Green || look.judgement == Judgement::Yellow;
    if (!(spends && admitted) && !rejected) {
        entry.release();
        return;
    }
    if (is_shared(entry, judging)) [[unlikely]] {
        settle_shared(look, judging, rejected);
    } else {
        Cell cell = store.tenants.cell_of(entry);
        const auto* token = std::get_if<TokenBucketLimit>(look.numbers);
        if (rejected) {
            charge_what_fits(cell, *look.numbers, store.tenants.pool(), judging.now, look.cost);
        } else if (token != nullptr) [[likely]] {
            Gcra bucket = bucket_in(cell, token->gcra);
            charge(bucket, token->gcra, judging.now.at, look.cost);
            put_bucket(cell, bucket, token->gcra);
        } else {
            charge(cell, *look.numbers, store.tenants.pool(), judging.now,
                   {look.cost, look.judgement});
        }
        store.tenants.write(entry, cell, judging.now);
    }
    if (entry.stamp().step != 0) [[unlikely]] {
        store.note_parent(entry);
    }
    entry.release();
}

}  // namespace sluice
