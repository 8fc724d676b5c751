#include "control/daemon/live/reading.hpp"

#include "control/active_json.hpp"
#include "control/daemon/placement.hpp"
#include "control/daemon/rule_life.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace sluice {
namespace {

// The counters of rules, by id. Whoever asks in their order, with some left out, finds each beside
// the one before.
class RuleStatsById {
public:
    // nullptr: nobody counts.
    explicit RuleStatsById(const Reading* reading) : reading_{reading} {}

    [[nodiscard]] const RuleStats* find(std::string_view id) {
        if (reading_ == nullptr) {
            return nullptr;
        }
        const std::vector<RuleStats>& rules = reading_->stats.rules;
        if (next_ < rules.size() && rules[next_].id == id) {
            return &rules[next_++];
        }
        if (by_id_.empty()) {
            note_places(rules);
        }
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) {
            return nullptr;
        }
        next_ = found->second + 1;
        return &rules[found->second];
    }

private:
    void note_places(const std::vector<RuleStats>& rules) {
        for (std::size_t i = 0; i < rules.size(); ++i) {
            by_id_.emplace(rules[i].id, i);
        }
    }

    const Reading* reading_;
    std::size_t next_ = 0;
    std::unordered_map<std::string_view, std::size_t> by_id_;
};

std::uint64_t matched(const RuleCounts& counts) {
    return counts.admitted + counts.exceeded + counts.skipped;
}
std::uint64_t matched_bytes(const RuleCounts& counts) {
    return counts.admitted_bytes + counts.exceeded_bytes;
}
// Packets of banned sources, and those that the kernel drops, are none of the matched.
std::uint64_t kept_back(const RuleCounts& counts) {
    return counts.exceeded + counts.banned_sources + counts.early_dropped;
}

void add_rates(const RuleSummary& rule, const ReadingTime& time, const RuleCounts& before,
               const RuleCounts& now, LiveRule& row) {
    if (rule.exceeding == Exceeding::Either) {
        return;  // nobody counts those apart that went on
    }
    const PacketRate exceeded =
        time.rates(before.exceeded, now.exceeded, before.exceeded_bytes, now.exceeded_bytes);
    const LiveRate none = exceeded.pps ? LiveRate{0.0} : std::nullopt;
    const bool enforces = rule.mode == Mode::Enforce;
    if (rule.exceeding == Exceeding::LetOn) {
        row.refused = time.rate(before.banned_sources + before.early_dropped,
                                now.banned_sources + now.early_dropped);
        row.would_refuse = {none, none};
        return;
    }
    row.refused = enforces ? time.rate(kept_back(before), kept_back(now)) : none;
    row.would_refuse = enforces ? PacketRate{none, none} : exceeded;
}

std::string_view state_of(const RuleSummary& rule, const RuleView& view, Nanoseconds utc) {
    if (has_ended(rule.id, view.lives)) {
        return "ended";
    }
    return rule.active && !state_at(rule.active->schedule, utc).active ? "inactive" : "active";
}

std::uint64_t table_slots(const Stats& stats) {
    return std::transform_reduce(stats.workers.begin(), stats.workers.end(), std::uint64_t{0},
                                 std::plus{},
                                 [](const WorkerStats& worker) { return worker.table_slots; });
}

bool is_of_its_rules(const Reading& reading) {
    return reading.view != nullptr && reading.stats.generation == reading.view->generation;
}

// Rules that were judged in one way since the reading before: a mode that has changed makes the
// second between them neither. Where counters and rules are not of one set, or rules have turned
// more than once, nobody knows.
class UnturnedRules {
public:
    UnturnedRules(const Reading* before, const Reading* now, const RuleView& view) {
        if (before == nullptr || now == nullptr || !is_of_its_rules(*before) ||
            now->stats.generation != view.generation) {
            return;
        }
        are_all_ = before->view->turns == view.turns;
        if (view.turns != before->view->turns + 1) {
            return;
        }
        for (const RuleSummary& rule : before->view->rules) {
            former_.emplace(rule.id, &rule);
        }
    }
    [[nodiscard]] bool has(const RuleSummary& rule) const {
        const auto former = former_.find(rule.id);
        return are_all_ || (former != former_.end() && former->second->mode == rule.mode &&
                            former->second->exceeding == rule.exceeding);
    }

private:
    bool are_all_ = false;
    std::unordered_map<std::string_view, const RuleSummary*> former_;
};

struct CountedPackets {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
};
// Packets whose verdict is one of those.
CountedPackets counted(const Stats& stats, bool (*is_one)(Verdict)) {
    CountedPackets sum;
    for (const WorkerStats& worker : stats.workers) {
        for (std::size_t i = 0; i < kVerdictCount; ++i) {
            if (is_one(static_cast<Verdict>(i))) {
                sum.packets += worker.by_verdict[i];
                sum.bytes += worker.bytes_by_verdict[i];
            }
        }
    }
    return sum;
}
std::uint64_t services_would_refuse(const Stats& stats) {
    std::uint64_t sum = 0;
    for (const WorkerStats& worker : stats.workers) {
        sum = std::accumulate(worker.would_refuse.begin(), worker.would_refuse.end(), sum);
    }
    return sum;
}

// The part of the totals that rules alone count. A rule that could be one of them and says nothing
// in this second leaves the sum unknown: without it, it would be too small.
void add_rules(const std::vector<LiveRule>& rules, LiveRates& rates) {
    const bool is_known = std::ranges::none_of(rules, [](const LiveRule& rule) {
        return rule.is_summed && !rule.would_refuse.pps.has_value();
    });
    rates.would_refuse = is_known ? PacketRate{0.0, 0.0} : PacketRate{};
    const auto add = [](LiveRate rate, LiveRate& to) { to = rate ? sum(to, rate) : to; };
    for (const LiveRule& rule : rules) {
        add(rule.early, rates.offered.pps);
        add(rule.early, rates.refused.pps);
        add(rule.would_refuse.pps, rates.would_refuse.pps);
        add(rule.would_refuse.bps, rates.would_refuse.bps);
    }
}

std::uint64_t lost(const PortStats& port) {
    return port.rx_missed + port.rx_no_mbuf + port.rx_errors + port.tx_errors + port.tx_full;
}

}  // namespace

ReadingTime time_between(const Reading* before, const Reading& now) noexcept {
    if (before == nullptr || before->pid != now.pid || before->origin != now.origin) {
        return {};
    }
    // A gap for which pages say that they are old has a mean that is the rate of no second.
    constexpr double kLongestSeconds = 3;
    const ReadingTime time = ReadingTime::between(before->stats.uptime_ns, now.stats.uptime_ns);
    return time.seconds <= kLongestSeconds ? time : ReadingTime{};
}

std::vector<LiveRule> live_rules(const Reading* before, const Reading* now, const RuleView& view) {
    const std::uint64_t slots = now == nullptr ? 0 : table_slots(now->stats);
    const ReadingTime time = now == nullptr ? ReadingTime{} : time_between(before, *now);
    RuleStatsById stats_now{now};
    RuleStatsById stats_before{before};
    const Nanoseconds utc = utc_now();
    const UnturnedRules unturned{before, now, view};
    const bool is_known_set = now != nullptr && now->stats.generation == view.generation;
    std::vector<LiveRule> rows;
    rows.reserve(view.rules.size());
    for (const RuleSummary& rule : view.rules) {
        LiveRule& row = rows.emplace_back(LiveRule{.id = rule.id,
                                                   .mode = rule.mode,
                                                   .state = state_of(rule, view, utc),
                                                   .placement = placement_of(rule)});
        row.spark.fill(kNoNumber);
        const RuleStats* const found = stats_now.find(rule.id);
        row.is_summed = rule.exceeding != Exceeding::Either && (found != nullptr || !is_known_set);
        if (found == nullptr) {
            continue;
        }
        const RuleStats& stats = *found;
        const RuleStats* former = stats_before.find(rule.id);
        if (former != nullptr) {
            row.early = time.rate(former->counts.early_dropped, stats.counts.early_dropped);
            row.matched = time.rates(matched(former->counts), matched(stats.counts),
                                     matched_bytes(former->counts), matched_bytes(stats.counts));
        }
        if (former != nullptr && unturned.has(rule)) {
            add_rates(rule, time, former->counts, stats.counts, row);
        }
        if (!rule.limits.empty()) {
            row.live_keys = stats.entries;
            row.limited_now = stats.limited_now;
            row.table_share =
                slots == 0
                    ? std::nullopt
                    : LiveRate{static_cast<double>(stats.entries) / static_cast<double>(slots)};
        }
    }
    return rows;
}

std::vector<LivePort> live_ports(const Reading* before, const Reading& now) {
    const ReadingTime time = time_between(before, now);
    std::vector<LivePort> ports;
    for (const PortStats& port : now.stats.ports) {
        LivePort& row = ports.emplace_back(
            LivePort{.name = port.pair + " " + port.side,
                     .link = port.held_down ? "held" : (port.link_up ? "up" : "down")});
        if (before == nullptr) {
            continue;
        }
        const auto former = std::find_if(
            before->stats.ports.begin(), before->stats.ports.end(), [&](const PortStats& one) {
                return one.pair == port.pair && one.side == port.side && one.device == port.device;
            });
        if (former != before->stats.ports.end()) {
            row.rx =
                time.rates(former->rx_packets, port.rx_packets, former->rx_bytes, port.rx_bytes);
            row.tx =
                time.rates(former->tx_packets, port.tx_packets, former->tx_bytes, port.tx_bytes);
            row.dropped = time.rate(lost(*former), lost(port));
        }
    }
    return ports;
}

std::optional<LiveRates> live_rates(const Reading* before, const Reading& now,
                                    const std::vector<LiveRule>& rules) {
    const ReadingTime time = time_between(before, now);
    if (time.seconds <= 0) {
        return std::nullopt;
    }
    const auto rate_of = [&](bool (*is_one)(Verdict)) {
        const CountedPackets was = counted(before->stats, is_one);
        const CountedPackets is = counted(now.stats, is_one);
        return time.rates(was.packets, is.packets, was.bytes, is.bytes);
    };
    LiveRates rates{.offered = rate_of([](Verdict) { return true; }),
                    .passed = rate_of(forwards),
                    .refused = rate_of([](Verdict verdict) { return !forwards(verdict); }),
                    .answered = rate_of(answers),
                    .would_refuse = {}};
    add_rules(rules, rates);
    const LiveRate services =
        time.rate(services_would_refuse(before->stats), services_would_refuse(now.stats));
    rates.would_refuse.pps = sum(rates.would_refuse.pps, services);
    if (services != 0.0) {
        rates.would_refuse.bps = std::nullopt;  // nobody counts bytes of these
    }
    return rates;
}

}  // namespace sluice
