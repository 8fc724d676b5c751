#include "lib/peer/merge/connection_gauges.hpp"

#include "lib/peer/merge/ledger.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::uint32_t at_most_32(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
}

}  // namespace

ConnectionGauges::ConnectionGauges(StoreLane* lane, std::size_t keys, std::size_t slots)
    : lane_{lane},
      places_{lane == nullptr ? 1 : keys},
      index_{zeroed_array<std::uint32_t>(places_)},
      gauges_{zeroed_array<Gauge>(std::max<std::size_t>(most_keys(places_), 1))},
      bounds_{zeroed_array<ClusterBound>(lane == nullptr ? 1 : slots)},
      slots_{lane == nullptr ? 0 : slots} {}

void ConnectionGauges::set_cluster(std::span<const ClusterBound> bounds) noexcept {
    const std::size_t end = std::min(std::max(bounds.size(), cluster_slots_), slots_);
    for (std::size_t slot = 0; slot < end; ++slot) {
        const ClusterBound bound = slot < bounds.size() ? bounds[slot] : ClusterBound{};
        takes_open_ |= bound.box_unsynced != 0 && bounds_[slot].box_unsynced == 0;
        bounds_[slot] = bound;
    }
    cluster_slots_ = bounds.size();
}

void ConnectionGauges::note_open(const Account& account) noexcept {
    if (is_named(account) && is_shared(account)) {
        (void)find_or_make(account);
    }
}

std::size_t ConnectionGauges::place_of(const Account& account) const noexcept {
    std::size_t place = home_of(account);
    while (index_[place] != 0 && !gauge_at(place).account.has_key_of(account)) {
        place = (place + 1) & (places_ - 1);
    }
    return place;
}

ConnectionGauges::Gauge* ConnectionGauges::find(const Account& account) const noexcept {
    const std::size_t place = place_of(account);
    return index_[place] != 0 ? &gauge_at(place) : nullptr;
}

ConnectionGauges::Gauge* ConnectionGauges::find_or_make(const Account& account) noexcept {
    const std::size_t place = place_of(account);
    if (index_[place] == 0) {
        if (!has_place()) {
            return nullptr;
        }
        gauges_[used_places_] = {};
        gauges_[used_places_].account = account;
        index_[place] = static_cast<std::uint32_t>(++used_places_);
    }
    return &gauge_at(place);
}

// Gauges behind it in the index move up, as far as they would have been put there; the last gauge
// takes its place among them.
void ConnectionGauges::erase(Gauge& gauge) noexcept {
    std::size_t hole = place_of(gauge.account);
    const std::uint32_t number = index_[hole];
    for (std::size_t at = (hole + 1) & (places_ - 1); index_[at] != 0;
         at = (at + 1) & (places_ - 1)) {
        const std::size_t home = home_of(gauge_at(at).account);
        if (((at - home) & (places_ - 1)) >= ((at - hole) & (places_ - 1))) {
            index_[hole] = index_[at];
            hole = at;
        }
    }
    index_[hole] = 0;
    --used_places_;
    Gauge& last = gauges_[used_places_];
    if (&last != &gauge) {
        index_[place_of(last.account)] = number;
        gauge = last;
    }
}

bool ConnectionGauges::hurry(const Gauge& gauge) noexcept {
    if (hurried_count_ == hurried_.size()) {
        return false;
    }
    hurried_[hurried_count_++] = gauge.account;
    return true;
}

// After an outage all is told again: leases may have ended meanwhile. Nothing stands any more that
// a store had confirmed which has lost any of it.
void ConnectionGauges::watch_store(Now now) noexcept {
    const bool down = lane_->down.raised();
    if (down) {
        down_at_ = now.at;
    }
    outages_ += was_down_ && !down ? 1 : 0;
    was_down_ = down;
    is_recovering_ = down_at_ != Instant{} && !down && now.at - down_at_ < Ledger::kRecovery;
    const auto losses = static_cast<std::uint32_t>(lane_->losses.read());
    if (losses != losses_) {
        losses_ = losses;
        lost_at_ = now.at;
    }
}

std::size_t ConnectionGauges::visits(Now now) noexcept {
    const auto keys = static_cast<std::int64_t>(std::max<std::size_t>(used_places_, 1));
    const Nanoseconds each =
        std::max(lane_->terms.sync / keys, Nanoseconds{1'000'000'000 / kVisitsPerSecond});
    const Nanoseconds passed = now.at - visited_at_;
    const auto most = static_cast<std::int64_t>(std::min(kVisits, used_places_));
    const std::int64_t due = passed / each;
    if (due > most) {
        visited_at_ = now.at;
        return static_cast<std::size_t>(most);
    }
    visited_at_ += due * each;
    return static_cast<std::size_t>(due);
}

std::uint32_t ConnectionGauges::gauge_of(const Gauge& gauge, std::uint64_t open, Now now) noexcept {
    const Nanoseconds passed = now.at - gauge.most_at;
    const std::uint64_t latest = passed < 2 * kPending ? gauge.most : 0;
    const std::uint64_t before = passed < kPending ? gauge.before : 0;
    return at_most_32(std::max({open, latest, before}));
}

void ConnectionGauges::note_promise(Gauge& gauge, std::uint32_t used, Now now) noexcept {
    const Nanoseconds passed = now.at - gauge.most_at;
    if (passed >= kPending) {
        gauge.before = passed < 2 * kPending ? gauge.most : 0;
        gauge.most = 0;
        gauge.most_at = now.at;
    }
    gauge.most = std::max(gauge.most, used);
}

bool ConnectionGauges::is_due(const Gauge& gauge, std::uint32_t value, Now now) const noexcept {
    if (gauge.hurries && value > floor_of(gauge, now)) {
        return true;
    }
    if (now.at - gauge.told_at < lane_->terms.sync) {
        return false;
    }
    return gauge.asks || value != gauge.confirmed || gauge.told_outages != outages_ ||
           !is_confirmed(gauge, now) || now.at - gauge.confirmed_at >= kGaugeLease / 3;
}

bool ConnectionGauges::is_over(const Gauge& gauge, std::uint32_t value, Now now) const noexcept {
    return value == 0 && gauge.confirmed == 0 && !gauge.asks &&
           now.at - gauge.told_at >= lane_->terms.sync && now.at - gauge.most_at >= 2 * kPending;
}

bool ConnectionGauges::send(Gauge& gauge, std::uint32_t value, Now now) noexcept {
    StoreAmount* amount = lane_->amounts.next();
    if (amount == nullptr) {
        return false;
    }
    last_number_ = last_number_ + 1 < kGaugeRecord ? last_number_ + 1 : 1;
    gauge.told = value;
    gauge.number = last_number_;
    gauge.told_at = now.at;
    gauge.told_losses = losses_;
    gauge.told_outages = outages_;
    gauge.asks = false;
    gauge.hurries = false;
    *amount = {.account = gauge.account,
               .units = value,
               .record = kGaugeRecord | gauge.number,
               .numbers = {.period = static_cast<std::uint64_t>(kGaugeLease.count()),
                           .parts = 1,
                           .lasts = StoreNumbers::kGauge},
               .kind = StoreAmount::Kind::Declare};
    lane_->amounts.commit();
    return true;
}

// An answer to a telling that is not the one under way is of an earlier life.
void ConnectionGauges::take(const StoreTotal& total) noexcept {
    Gauge* gauge = lane_ == nullptr ? nullptr : find(total.account);
    if (gauge == nullptr || gauge->number == 0 || total.record != (kGaugeRecord | gauge->number)) {
        return;
    }
    gauge->number = 0;
    if (total.kind != StoreTotal::Kind::Level) {
        gauge->confirmed = std::min(gauge->confirmed, gauge->told);
        return;
    }
    if (gauge->confirmed_losses != gauge->told_losses) {
        gauge->others_before = gauge->others;
    }
    gauge->confirmed_losses = gauge->told_losses;
    gauge->confirmed = gauge->told;
    gauge->confirmed_at = gauge->told_at;
    gauge->others = at_most_32(total.current);
    gauge->hurries = gauge->hurries && hurry(*gauge);
}

// Local share: at least one, so that more boxes than `count` admit one each.
GaugeAnswer ConnectionGauges::without_store(const ClusterBound& bound, const Asked& asked,
                                            const Gauge* gauge) const noexcept {
    const std::uint64_t share = std::max<std::uint64_t>(asked.count / bound.machines, 1);
    if (!is_away(bound) || bound.times_down > 1) {
        return asked.used <= share ? GaugeAnswer::Admitted : GaugeAnswer::Share;
    }
    if (bound.closed_down) {
        return GaugeAnswer::Closed;
    }
    const std::uint64_t others = gauge == nullptr || bound.times_down == 0 ? 0 : gauge->others;
    return asked.used + others <= asked.count ? GaugeAnswer::Admitted : GaugeAnswer::OthersHaveIt;
}

GaugeAnswer ConnectionGauges::answer(const Account& account, const Asked& asked, const Gauge* gauge,
                                     Now now) const noexcept {
    const ClusterBound& bound = bounds_[account.slot];
    const bool is_told = is_named(account) && (gauge != nullptr || has_place());
    if (is_away(bound) || !is_told || lane_->over_budget.raised()) {
        return without_store(bound, asked, gauge);
    }
    const std::uint64_t others = gauge == nullptr ? 0 : others_of(*gauge, now);
    if (asked.used + others > asked.count) {
        return GaugeAnswer::OthersHaveIt;
    }
    const std::uint64_t floor = gauge == nullptr ? 0 : floor_of(*gauge, now);
    return asked.used <= floor + bound.box_unsynced ? GaugeAnswer::Admitted
                                                    : GaugeAnswer::NotConfirmed;
}

std::uint64_t ConnectionGauges::beside(const Account& account, std::uint64_t count,
                                       Now now) const noexcept {
    const ClusterBound& bound = bounds_[account.slot];
    const Gauge* gauge = find(account);
    const bool is_told = is_named(account) && (gauge != nullptr || has_place());
    const bool away = is_away(bound);
    if ((away && bound.times_down > 1) || (!away && (!is_told || lane_->over_budget.raised()))) {
        const std::uint64_t share = std::max<std::uint64_t>(count / bound.machines, 1);
        return count - std::min(count, share);
    }
    const bool hears = gauge != nullptr && (!away || bound.times_down != 0);
    return hears ? others_of(*gauge, now) : 0;
}

GaugeAnswer ConnectionGauges::judge(const Account& account, const Asked& asked,
                                    Now now) const noexcept {
    return answer(account, asked, lane_ == nullptr ? nullptr : find(account), now);
}

GaugeAnswer ConnectionGauges::admit(const Account& account, const Asked& asked, Now now) noexcept {
    const GaugeAnswer answer = judge(account, asked, now);
    Gauge* gauge = lane_ != nullptr && is_named(account) ? find_or_make(account) : nullptr;
    if (gauge == nullptr) {
        return answer;
    }
    if (answer != GaugeAnswer::Admitted) {
        gauge->asks = true;
    }
    const bool is_admitted = answer == GaugeAnswer::Admitted;
    if (is_admitted && asked.is_promised) {
        note_promise(*gauge, at_most_32(asked.used), now);
    }
    const std::uint64_t ahead = asked.used - std::min(asked.used, floor_of(*gauge, now));
    const bool is_much = 2 * ahead >= bounds_[account.slot].box_unsynced;
    if (!gauge->hurries && (is_admitted ? is_much : answer == GaugeAnswer::NotConfirmed)) {
        // One that is under way takes its place with the answer.
        gauge->hurries = gauge->number != 0 || hurry(*gauge);
    }
    return answer;
}

}  // namespace sluice
