#include "control/daemon/cluster/store_watch.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace sluice {
namespace {

// nullopt: what it is cannot be said yet.
std::optional<ClusterEventKind> link_kind(const StoreLinkStats& stats) {
    switch (static_cast<StoreLinkState>(stats.state)) {
        case StoreLinkState::Refused:
            return ClusterEventKind::StoreRefused;
        case StoreLinkState::Fenced:
            return ClusterEventKind::StoreFenced;
        case StoreLinkState::Away:
            return stats.down ? std::optional{ClusterEventKind::StoreDown} : std::nullopt;
        case StoreLinkState::Ready:
            return stats.down ? ClusterEventKind::StoreDown : ClusterEventKind::StoreUp;
    }
    return std::nullopt;
}

std::string link_why(const StoreLinkStats& stats, ClusterEventKind kind) {
    if (kind == ClusterEventKind::StoreUp || !stats.why.empty()) {
        return stats.why;
    }
    return "no answer for 300 ms";
}

}  // namespace

void StoreWatch::see(const StoreLinkStats& stats, Clock::time_point now, std::int64_t utc_ns) {
    if (!stats.in_cluster) {
        return;
    }
    see_link(stats, now, utc_ns);
    see_clock(stats, now, utc_ns);
    if (are_windows_apart_.turns(stats.windows_apart, now)) {
        log_.add({.kind = stats.windows_apart ? ClusterEventKind::WindowsApart
                                              : ClusterEventKind::WindowsShared,
                  .utc_ns = utc_ns});
    }
    if (!counters_) {  // what was before this sluiced is no news
        counters_ = Counters{.skewed = {.seen = stats.skewed},
                             .lost = {.seen = stats.lost},
                             .gaps = {.seen = stats.gaps}};
    }
    const auto take = [](Counter& counter, std::uint64_t value) {
        // A dataplane that was started anew counts from 0.
        counter.owed += value >= counter.seen ? value - counter.seen : value;
        counter.seen = value;
    };
    take(counters_->skewed, stats.skewed);
    take(counters_->lost, stats.lost);
    take(counters_->gaps, stats.gaps);
    count(ClusterEventKind::WindowSkewed, counters_->skewed, now, utc_ns);
    count(ClusterEventKind::PartitionLost, counters_->lost, now, utc_ns);
    count(ClusterEventKind::StoreGap, counters_->gaps, now, utc_ns);
}

void StoreWatch::see_link(const StoreLinkStats& stats, Clock::time_point now, std::int64_t utc_ns) {
    const std::optional<ClusterEventKind> kind = link_kind(stats);
    if (kind && link_.turns(*kind, now)) {
        log_.add({.kind = *kind, .utc_ns = utc_ns, .why = link_why(stats, *kind)});
    }
}

// The time that an answer took on its way is no difference of clocks.
void StoreWatch::see_clock(const StoreLinkStats& stats, Clock::time_point now,
                           std::int64_t utc_ns) {
    if (static_cast<StoreLinkState>(stats.state) != StoreLinkState::Ready) {
        return;
    }
    const std::int64_t off =
        std::abs(stats.clock_off_us) - static_cast<std::int64_t>(stats.rtt_us / 2);
    const bool is_between = off <= kClockOffUs && off > kClockRightUs;
    const bool is_off = off > kClockOffUs;
    if (!is_between && is_clock_off_.turns(is_off, now)) {
        log_.add({.kind = is_off ? ClusterEventKind::ClockOff : ClusterEventKind::ClockRight,
                  .utc_ns = utc_ns,
                  .offset_us = stats.clock_off_us});
    }
}

void StoreWatch::count(ClusterEventKind kind, Counter& counter, Clock::time_point now,
                       std::int64_t utc_ns) {
    const bool was_told = counter.told_at != Clock::time_point{};
    if (counter.owed == 0 || (was_told && now - counter.told_at < kCountGap)) {
        return;
    }
    log_.add({.kind = kind, .utc_ns = utc_ns, .count = std::exchange(counter.owed, 0)});
    counter.told_at = now;
}

}  // namespace sluice
