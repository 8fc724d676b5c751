#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/peer/merge/cluster_terms.hpp"
#include "lib/peer/merge/ledger_store.hpp"

#include <algorithm>

// Buckets as the store of a cluster is told of them, and as it tells of its own.
namespace sluice {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;  // ns

// Windows that begin by UTC have the same numbers on all boxes; nullptr: it has none.
const WindowNumbers* utc_windows(const AnyLimit& limit) noexcept {
    const WindowNumbers* numbers = nullptr;
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        const bool is_told = fixed->is_by_utc() && fixed->utc_offset % kMicrosecond == 0;
        numbers = is_told ? &fixed->numbers : nullptr;
    } else if (const auto* sliding = std::get_if<SlidingWindowLimit>(&limit)) {
        numbers = sliding->is_by_utc() ? &sliding->numbers : nullptr;
    }
    return numbers != nullptr && numbers->window % kMicrosecond == 0 ? numbers : nullptr;
}

// How much further this process numbers such windows than UTC does (Now::window_time()).
std::int64_t windows_ahead(const WindowNumbers& numbers, Now now) noexcept {
    return now.set_back.count() / numbers.window;
}

// By how much those of a key begin ahead of UTC's multiples of their length.
std::uint64_t phase_us(const AnyLimit& limit, GroupKey key) noexcept {
    const auto* fixed = std::get_if<FixedWindowLimit>(&limit);
    if (fixed == nullptr) {
        return 0;
    }
    const std::int64_t window = fixed->numbers.window;
    const std::int64_t offset = fixed->phase == WindowPhase::PerKey ? offset_of_key(*fixed, key)
                                                                    : fixed->utc_offset % window;
    return static_cast<std::uint64_t>((offset + window) % window / kMicrosecond);
}

}  // namespace

bool is_told_to_store(const AnyLimit& limit) noexcept {
    return gcra_of(limit) != nullptr || utc_windows(limit) != nullptr;
}

StoreNumbers LedgerStore::store_numbers(const Account& account) const noexcept {
    const AnyLimit* limit = limit_of(account);
    if (limit == nullptr) {
        return {};
    }
    if (const Limit* gcra = gcra_of(*limit)) {
        return {.period = gcra->period(), .parts = gcra->parts(), .lasts = 0};
    }
    const WindowNumbers* windows = utc_windows(*limit);
    if (windows == nullptr) {
        return {};
    }
    return {.period = static_cast<std::uint64_t>(windows->window / kMicrosecond),
            .parts = phase_us(*limit, GroupKey{account.hash}),
            .lasts = lasts_of(*limit)};
}

std::int64_t LedgerStore::store_epoch(const Account& account, std::int64_t epoch,
                                      Now now) const noexcept {
    const AnyLimit* limit = limit_of(account);
    const WindowNumbers* windows = limit == nullptr ? nullptr : utc_windows(*limit);
    return windows == nullptr ? epoch : epoch - windows_ahead(*windows, now);
}

Due LedgerStore::due(const Account& account, std::uint64_t units, Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    const Entry* entry = limit == nullptr ? nullptr : find(account, now);
    if (entry == nullptr) {
        return limit != nullptr && units <= most_of(*limit).count() / 2 ? Due::Late : Due::Soon;
    }
    return due_of(entry->cell(), *limit, store_.registry.pool(), now, Units{units});
}

// What the store says may make a copy stricter, by no more than an honest one could. Owed as of
// now: that it was owed a while ago makes the copy stricter, and no more than once, since no copy
// is told of any other.
BucketState LedgerStore::state_at_store(const StoreTotal& total, Now now) const noexcept {
    const AnyLimit* limit = limit_of(total.account);
    BucketState state;
    if (limit == nullptr) {
        state.lasts = kTallied;  // of no limit that raise() takes
        return state;
    }
    state.version = store_.registry.row(total.account.slot).version;
    state.lasts = lasts_of(*limit);
    if (const Limit* gcra = gcra_of(*limit)) {
        const std::uint64_t most = 2 * gcra->burst();
        state.bucket = charged({now.at, 0}, *gcra, {now.at, std::min(total.current, most)}, now.at);
        return state;
    }
    // A window that is further ahead than clocks may be would keep the key's for all that time.
    const WindowNumbers* windows = utc_windows(*limit);
    if (windows == nullptr || is_beyond_clock(total, now)) {
        state.lasts = kTallied;
        return state;
    }
    const std::uint64_t most = 2 * windows->count;
    state.counts = {total.epoch + windows_ahead(*windows, now), std::min(total.current, most),
                    std::min(total.previous, most)};
    return state;
}

// The box's clock counts as of now, so that an answer may have taken any time.
bool LedgerStore::is_beyond_clock(const StoreTotal& total, Now now) const noexcept {
    const AnyLimit* limit = limit_of(total.account);
    const WindowNumbers* windows = limit == nullptr ? nullptr : utc_windows(*limit);
    if (windows == nullptr || total.kind == StoreTotal::Kind::Later) {
        return false;
    }
    const std::int64_t own = fresh_counts(*limit, GroupKey{total.account.hash}, now).epoch;
    return total.epoch > own + 1 - windows_ahead(*windows, now);
}

void LedgerStore::take_gauge(const StoreTotal& total) noexcept {
    if (gauges_ != nullptr) {
        gauges_->take(total);
    }
}

void LedgerStore::tell_gauges(Now now) noexcept {
    if (gauges_ != nullptr) {
        seek_open(now);
        gauges_->tell([&](const Account& account) { return open_connections(account, now); }, now);
    }
}

// The walk over all entries takes a sixth of a lease: others know of a box's connections until its
// last telling ends.
void LedgerStore::seek_open(Now now) noexcept {
    if (gauges_->takes_open()) {
        sought_ = 0;
        sought_at_ = now.at;
    }
    const std::size_t entries = store_.keys.slots();
    if (sought_ == entries) {
        return;
    }
    constexpr std::int64_t kLeast = 256;
    constexpr std::int64_t kMost = 16'384;
    const auto part = static_cast<Wide>(std::max(now.at - sought_at_, Nanoseconds{0}).count()) *
                      entries / static_cast<Wide>(kGaugeLease.count() / 6);
    const auto due = static_cast<std::int64_t>(std::min<Wide>(part, kMost));
    const std::size_t end =
        std::min(entries, sought_ + static_cast<std::size_t>(std::max(due, kLeast)));
    sought_at_ = now.at;
    for (; sought_ < end; ++sought_) {
        note_open(store_.keys.at(sought_), now);
    }
}

// Entries name a part of their key's hash alone; their connections have all of it.
void LedgerStore::note_open(const Entry& entry, Now now) noexcept {
    LimitRegistry& registry = store_.registry;
    const bool is_open = !entry.empty() && registry.knows(entry.slot()) &&
                         gauges_->is_shared({.slot = entry.slot()}) &&
                         entry.stamp().aggregation_level == 0 && !entry.has_own_numbers() &&
                         !entry.idle(now.at);
    if (!is_open || algorithm_of(*registry.row(entry.slot()).limit) != Algorithm::Concurrency) {
        return;
    }
    const BucketName name = registry.pool().at<OpenConnections>(entry.cell().rest).name();
    const TableKey key{GroupKey{name.hash}, entry.slot()};
    if (key.slot_and_tag == entry.slot_and_tag()) {
        gauges_->note_open({.hash = name.hash, .slot = entry.slot()});
    }
}

// A bucket that is gone had none, and so has a limit that is gone.
std::uint64_t LedgerStore::open_connections(const Account& account, Now now) noexcept {
    if (!store_.registry.knows(account.slot)) {
        return 0;
    }
    const AnyLimit& limit = *store_.registry.row(account.slot).limit;
    const Entry* entry =
        algorithm_of(limit) == Algorithm::Concurrency ? find(account, now) : nullptr;
    return entry == nullptr ? 0 : used(entry->cell(), limit, store_.registry.pool(), now).count();
}

const Limit* LedgerStore::bucket_limit(const Account& account) const noexcept {
    const AnyLimit* limit = limit_of(account);
    return limit == nullptr ? nullptr : gcra_of(*limit);
}

std::uint64_t LedgerStore::owed(const Account& account, Now now) noexcept {
    return owed_by(account, copy_of(account, now), now).value_or(0);
}

std::optional<std::uint64_t> LedgerStore::owed_by(const Account& account, const BucketState& state,
                                                  Now now) const noexcept {
    if (state.has_counts() && account.turn != 0) {
        const std::int64_t epoch = epoch_of(account.turn, state.counts.epoch);
        return counted_in(state.counts, epoch, state.lasts);
    }
    const Limit* gcra = bucket_limit(account);
    if (gcra == nullptr || state.lasts != 0 ||
        state.version != store_.registry.row(account.slot).version) {
        return std::nullopt;
    }
    const std::uint64_t debt = debt_of(state.bucket, *gcra, now.at);
    return (debt + gcra->period() - 1) / gcra->period();
}

void LedgerStore::charge(BucketState& state, const Account& account, std::uint64_t units,
                         Now now) const noexcept {
    const Limit* gcra = bucket_limit(account);
    if (gcra != nullptr && state.lasts == 0) {
        state.bucket = charged(state.bucket, *gcra, {now.at, units}, now.at);
    }
}

}  // namespace sluice
