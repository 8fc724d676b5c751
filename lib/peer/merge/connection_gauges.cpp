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
      gauges_{zeroed_array<Gauge>(places_)},
      bounds_{zeroed_array<ClusterBound>(lane == nullptr ? 1 : slots)},
      slots_{lane == nullptr ? 0 : slots} {}

void ConnectionGauges::set_cluster(std::span<const ClusterBound> bounds) noexcept {
    const std::size_t end = std::min(std::max(bounds.size(), cluster_slots_), slots_);
    for (std::size_t slot = 0; slot < end; ++slot) {
        bounds_[slot] = slot < bounds.size() ? bounds[slot] : ClusterBound{};
    }
    cluster_slots_ = bounds.size();
}

std::size_t ConnectionGauges::place_of(const Account& account) const noexcept {
    std::size_t place = home_of(account);
    while (gauges_[place].account.slot != 0 && !gauges_[place].account.has_key_of(account)) {
        place = (place + 1) & (places_ - 1);
    }
    return place;
}

ConnectionGauges::Gauge* ConnectionGauges::find(const Account& account) const noexcept {
    Gauge& gauge = gauges_[place_of(account)];
    return gauge.account.slot != 0 ? &gauge : nullptr;
}

ConnectionGauges::Gauge* ConnectionGauges::find_or_make(const Account& account) noexcept {
    Gauge& gauge = gauges_[place_of(account)];
    if (gauge.account.slot == 0) {
        if (!has_place()) {
            return nullptr;
        }
        ++used_places_;
        gauge = {};
        gauge.account = account;
    }
    return &gauge;
}

// What stands behind it moves up, as far as it would have been put there.
void ConnectionGauges::erase(std::size_t place) noexcept {
    --used_places_;
    std::size_t hole = place;
    for (std::size_t at = (hole + 1) & (places_ - 1); gauges_[at].account.slot != 0;
         at = (at + 1) & (places_ - 1)) {
        const std::size_t home = home_of(gauges_[at].account);
        if (((at - home) & (places_ - 1)) >= ((at - hole) & (places_ - 1))) {
            gauges_[hole] = gauges_[at];
            hole = at;
        }
    }
    gauges_[hole] = {};
}

void ConnectionGauges::hurry(const Gauge& gauge) noexcept {
    if (hurried_count_ < hurried_.size()) {
        hurried_[hurried_count_++] = gauge.account;
    }
}

// After an outage all is told again: leases may have ended meanwhile, or the store have lost it.
void ConnectionGauges::watch_store(Now now) noexcept {
    const bool down = lane_->down.raised();
    if (down) {
        down_at_ = now.at;
    } else if (was_down_) {
        to_tell_again_ = places_;
    }
    was_down_ = down;
    is_recovering_ = down_at_ != Instant{} && !down && now.at - down_at_ < Ledger::kRecovery;
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
    const Nanoseconds passed = now.at - gauge.told_at;
    if (gauge.hurries && value > gauge.confirmed) {
        return true;
    }
    if (passed < lane_->terms.sync) {
        return false;
    }
    return gauge.asks || value != gauge.confirmed || gauge.born == 0 || to_tell_again_ != 0 ||
           now.at - gauge.confirmed_at >= kGaugeLease / 3;
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
    // A store that began anew has lost what all other keys told.
    to_tell_again_ = gauge->born != 0 && gauge->born != total.born ? places_ : to_tell_again_;
    gauge->born = total.born;
    gauge->confirmed = gauge->told;
    gauge->confirmed_at = gauge->told_at;
    gauge->others = at_most_32(total.current);
    if (gauge->hurries) {
        hurry(*gauge);
    }
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
    const std::uint64_t others = gauge == nullptr ? 0 : gauge->others;
    if (asked.used + others > asked.count) {
        return GaugeAnswer::OthersHaveIt;
    }
    const std::uint64_t floor = gauge == nullptr ? 0 : floor_of(*gauge, now);
    return asked.used <= floor + bound.box_unsynced ? GaugeAnswer::Admitted
                                                    : GaugeAnswer::NotConfirmed;
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
        return answer;
    }
    if (asked.is_promised) {
        note_promise(*gauge, at_most_32(asked.used), now);
    }
    const std::uint64_t ahead = asked.used - std::min(asked.used, floor_of(*gauge, now));
    if (!gauge->hurries && 2 * ahead >= bounds_[account.slot].box_unsynced) {
        gauge->hurries = true;
        hurry(*gauge);
    }
    return answer;
}

}  // namespace sluice
