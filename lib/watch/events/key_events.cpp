#include "lib/watch/events/key_events.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace sluice {
namespace {

std::optional<EdgeEvent> reported_as(KeyEventKind kind) noexcept {
    switch (kind) {
        case KeyEventKind::LimitStart:
            return EdgeEvent::LimitStart;
        case KeyEventKind::LimitEnd:
            return EdgeEvent::LimitEnd;
        case KeyEventKind::Refill:
            return EdgeEvent::Refill;
        case KeyEventKind::BanStart:
        case KeyEventKind::BanEnd:
            return EdgeEvent::Ban;
        default:
            return std::nullopt;
    }
}

// Instants end somewhere: what lies behind is never.
Instant instant_after(Instant at, Nanoseconds wait) noexcept {
    return wait >= kNoInstant - at ? kNoInstant : at + wait;
}

bool is_limited(const WatchedKey& watched) noexcept {
    return !watched.is_ban && watched.end != kNoInstant;
}

void take_one(Counter& count) noexcept {
    count.set(count.read() - 1);
}

}  // namespace

KeyEvents::KeyEvents(const Bounds& bounds)
    : keys_{bounds.keys},
      ring_{bounds.ring},
      limit_of_slot_{std::make_unique<std::uint32_t[]>(kSlots)},
      limited_{std::make_unique<Counter[]>(kSlots)} {}

// In one pass over the limits and one over the keys, whatever their numbers.
void KeyEvents::adopt_other(const LoadedSet& set) noexcept {
    load_ = set.load;
    if (empty()) {
        return;
    }
    const std::vector<LimitPlan>& limits = set.meter_plan.limits;
    for (std::size_t i = 0; i < limits.size(); ++i) {
        limit_of_slot_[limits[i].slot] = static_cast<std::uint32_t>(i + 1);
    }
    keys_.remove_if([&](WatchedKey& watched) {
        const bool goes = !goes_on(watched, set);
        if (goes && is_limited(watched)) {
            take_one(limited_with(watched));
        }
        return goes;
    });
    for (const LimitPlan& limit : limits) {
        limit_of_slot_[limit.slot] = 0;
    }
}

bool KeyEvents::goes_on(WatchedKey& watched, const LoadedSet& set) const noexcept {
    const std::uint32_t number = limit_of_slot_[slot_of(watched.key)];
    if (number == 0) {
        return false;
    }
    const LimitPlan& plan = set.meter_plan.limits[number - 1];
    const LoadedRule& rule = set.rules[plan.rule];
    const LoadedLimit& limit = watched.is_ban ? rule.ban.boxes[plan.key] : rule.limits[plan.index];
    const bool reports =
        watched.is_ban ? rule.events.has(EdgeEvent::Ban) : rule.events.has_limits();
    if (limit.identity != watched.identity || !reports) {
        return false;
    }
    watched.rule = plan.rule;
    watched.limit = plan.index;
    watched.rule_key = plan.key;
    watched.events = rule.events;
    return true;
}

WatchedKey* KeyEvents::watch(const About& about, ByteView bytes) noexcept {
    const WatchedKeys::Added added = keys_.add(about.key);
    lost_.add(added.key == nullptr || added.displaced ? 1 : 0);
    if (added.key == nullptr) {
        return nullptr;
    }
    WatchedKey& watched = *added.key;
    watched.identity = about.identity;
    watched.rule = about.rule;
    watched.limit = about.limit;
    watched.rule_key = about.rule_key;
    watched.events = about.events;
    watched.is_wider = about.is_wider;
    watched.size = static_cast<std::uint16_t>(std::min(bytes.size(), watched.bytes.size()));
    std::copy_n(bytes.begin(), watched.size, watched.bytes.begin());
    return &watched;
}

void KeyEvents::refused(WatchedKey& watched, Units cost, Nanoseconds wait, Now now) noexcept {
    if (watched.end == kNoInstant) {
        limited_with(watched).add(1);
        watched.since = now.at;
        emit(watched, KeyEventKind::LimitStart, now.at, wait, now);
    }
    watched.cost = cost;
    watched.refill =
        watched.events.has(EdgeEvent::Refill) ? instant_after(now.at, wait) : kNoInstant;
    refused_again(watched, now);
}

void KeyEvents::refused_again(WatchedKey& watched, Now now) noexcept {
    watched.last = now.at;
    watched.end = now.at + kQuiet;
    schedule(watched);
}

void KeyEvents::banned(WatchedKey& watched, Nanoseconds left, Now now) noexcept {
    if (watched.is_ban && watched.end <= now.at) {
        emit(watched, KeyEventKind::BanEnd, watched.end, watched.end - watched.since, now);
    }
    watched.is_ban = true;
    watched.since = now.at;
    watched.last = now.at;
    watched.end = instant_after(now.at, left);
    emit(watched, KeyEventKind::BanStart, now.at, left, now);
    schedule(watched);
}

void KeyEvents::look_again(WatchedKey& watched, Now now) noexcept {
    if (watched.is_ban) {
        watched.end = std::min(watched.end, now.at);
    } else if (watched.refill != kNoInstant) {
        watched.refill = std::min(watched.refill, now.at);
    }
    schedule(watched);
}

// One event, of those due the first.
void KeyEvents::tell(WatchedKey& watched, Nanoseconds left, Now now) noexcept {
    if (watched.is_ban) {
        notify_ban_end(watched, left, now);
        return;
    }
    if (watched.due == watched.end) {
        emit(watched, KeyEventKind::LimitEnd, watched.end, watched.last - watched.since, now);
        take_one(limited_with(watched));
        watched.end = kNoInstant;
    } else if (left > Nanoseconds{0}) {
        watched.refill = instant_after(now.at, left);
    } else {
        emit(watched, KeyEventKind::Refill, watched.refill, Nanoseconds{0}, now);
        watched.refill = kNoInstant;
        watched.next_refill = now.at + kRefillGap;
    }
    if (watched.end == kNoInstant && watched.refill == kNoInstant) {
        keys_.remove(watched);
    } else {
        schedule(watched);
    }
}

void KeyEvents::notify_ban_end(WatchedKey& watched, Nanoseconds left, Now now) noexcept {
    if (left > Nanoseconds{0}) {
        watched.end = instant_after(now.at, left);
        schedule(watched);
        return;
    }
    emit(watched, KeyEventKind::BanEnd, watched.end, watched.end - watched.since, now);
    keys_.remove(watched);
}

void KeyEvents::emit(const WatchedKey& watched, KeyEventKind kind, Instant at, Nanoseconds length,
                     Now now) noexcept {
    const std::optional<EdgeEvent> event = reported_as(kind);
    if (!event || !watched.events.has(*event)) {
        return;
    }
    EventRecord* const record = ring_.next();
    if (record == nullptr) {
        lost_.add(1);
        return;
    }
    record->load = load_;
    record->utc = now.moved_to(at).utc();
    record->length = length;
    record->rule = watched.rule;
    record->kind = kind;
    record->limit = watched.limit;
    record->size = watched.size;
    std::memcpy(record->bytes.data(), watched.bytes.data(), watched.size);
    ring_.commit();
}

void KeyEvents::schedule(WatchedKey& watched) noexcept {
    const Instant refill =
        watched.refill == kNoInstant ? kNoInstant : std::max(watched.refill, watched.next_refill);
    const Instant due = std::min(watched.end, refill);
    if (due != watched.due) {
        watched.due = due;
        keys_.reorder(watched);
    }
}

}  // namespace sluice
