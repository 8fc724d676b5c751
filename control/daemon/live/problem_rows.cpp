#include "control/daemon/live/problems.hpp"

#include "lib/base/device_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kCritical = "critical";
constexpr std::string_view kWarning = "warning";

// Names behind one another, a few of many.
class Names {
public:
    void add(const std::string& name) {
        if (++count_ <= kShown) {
            text_ += (text_.empty() ? "" : ", ") + name;
        }
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::string text() const {
        return count_ > kShown ? fmt::format("{} and {} more", text_, count_ - kShown) : text_;
    }

private:
    static constexpr std::size_t kShown = 4;
    std::string text_;
    std::size_t count_ = 0;
};

// Ports of which that is true, in a sentence.
std::string ports_that(const ProblemFacts& facts, bool (*is_one)(const PortStats&),
                       std::string_view sentence) {
    Names names;
    for (const PortStats& port : facts.stats->ports) {
        if (is_one(port)) {
            names.add(port.pair + " " + port.side);
        }
    }
    return names.empty() ? "" : fmt::format(fmt::runtime(sentence), names.text());
}
std::string workers_that(const ProblemFacts& facts, bool (*is_one)(const WorkerStats&),
                         std::string_view sentence) {
    Names names;
    for (const WorkerStats& worker : facts.stats->workers) {
        if (is_one(worker)) {
            names.add(std::to_string(worker.lcore));
        }
    }
    return names.empty() ? "" : fmt::format(fmt::runtime(sentence), names.text());
}

template <std::uint64_t PortStats::* kMember>
std::uint64_t of_ports(const Stats& stats) {
    std::uint64_t sum = 0;
    for (const PortStats& port : stats.ports) {
        sum += port.*kMember;
    }
    return sum;
}
template <TableEvent kEvent>
std::uint64_t of_tables(const Stats& stats) {
    std::uint64_t sum = 0;
    for (const WorkerStats& worker : stats.workers) {
        sum += worker.by_table_event[static_cast<std::size_t>(kEvent)];
    }
    return sum;
}
std::uint64_t handed_over_in_vain(const Stats& stats) {
    std::uint64_t sum = 0;
    for (const WorkerStats& worker : stats.workers) {
        sum += worker.by_reason[static_cast<std::size_t>(Reason::RingFull)];
    }
    return sum;
}
std::uint64_t lost_events(const Stats& stats) {
    return stats.events.by_kind[static_cast<std::size_t>(KeyEventKind::Lost)];
}
std::uint64_t bridged_packets(const Stats& stats) {
    std::uint64_t sum = 0;
    for (const PortStats& port : stats.ports) {
        sum += port.kernel.bridged_packets;
    }
    return sum;
}
std::uint64_t no_place_of(const Stats& stats) {
    return of_tables<TableEvent::TableFull>(stats) + of_tables<TableEvent::PoolFull>(stats);
}

std::string find_no_dataplane(const ProblemFacts& facts) {
    return facts.stats == nullptr ? facts.state.why : "";
}
std::string find_panic(const ProblemFacts& facts) {
    return facts.stats->panic ? "everything is forwarded unjudged: panic pass is on" : "";
}
bool has_store_link(const Stats& stats, StoreLinkState state) {
    return stats.store.in_cluster && static_cast<StoreLinkState>(stats.store.state) == state;
}
std::string find_store_down(const ProblemFacts& facts) {
    const bool has_own_row = has_store_link(*facts.stats, StoreLinkState::Refused) ||
                             has_store_link(*facts.stats, StoreLinkState::Fenced);
    return facts.stats->store.in_cluster && facts.stats->store.down && !has_own_row
               ? "the cluster's store does not answer: its limits go by `owner_down`"
               : "";
}
std::string find_store_refused(const ProblemFacts& facts) {
    return has_store_link(*facts.stats, StoreLinkState::Refused)
               ? "the cluster's store takes nothing from this box: " + facts.stats->store.why
               : "";
}
std::string find_store_fenced(const ProblemFacts& facts) {
    return has_store_link(*facts.stats, StoreLinkState::Fenced)
               ? "the store gives this box no slot: " + facts.stats->store.why
               : "";
}
std::string find_no_rules(const ProblemFacts& facts) {
    return facts.state.state == LiveState::NoRules ? facts.state.why : "";
}
std::string find_links_down(const ProblemFacts& facts) {
    return ports_that(
        facts, [](const PortStats& port) { return !port.link_up; }, "no frame leaves by {}");
}
std::string find_stalled(const ProblemFacts& facts) {
    return workers_that(
        facts, [](const WorkerStats& worker) { return worker.stalled_ms != 0; },
        "the worker on core {} stands still");
}
std::string find_filling(const ProblemFacts& facts) {
    return workers_that(
        facts,
        [](const WorkerStats& worker) {
            return worker.table_slots != 0 && static_cast<double>(worker.table_entries) >
                                                  0.85 * static_cast<double>(worker.table_slots);
        },
        "the table of the worker on core {} is nearly full of live keys");
}
std::string find_overshoot(const ProblemFacts& facts) {
    Names names;
    for (const RuleStats& rule : facts.stats->rules) {
        if (rule.overshoot.measured > rule.overshoot.promised) {
            names.add(rule.id);
        }
    }
    return names.empty() ? "" : names.text() + ": more was admitted than is promised";
}
std::string find_behind(const ProblemFacts& facts) {
    return facts.stats->generation == facts.view.generation
               ? ""
               : "the dataplane runs other rules than those that sluiced holds";
}
std::string find_trusted(const ProblemFacts& facts) {
    Names names;
    for (const ServiceStats& service : facts.stats->services) {
        for (const auto& [side, trust] :
             {std::pair{"clients", service.clients}, std::pair{"servers", service.servers}}) {
            if (trust == ChecksumTrust::Trusting) {
                names.add(service.id + " (" + side + ")");
            }
        }
    }
    return names.empty() ? "" : "checksums are not verified: " + names.text();
}
std::string find_state_lost(const ProblemFacts& facts) {
    return !facts.stats->state.survives && facts.stats->state.not_kept != 0
               ? "what keys owe will not outlive the dataplane"
               : "";
}
std::string find_list_problem(const ProblemFacts& facts) {
    return facts.view.list_problem.empty()
               ? ""
               : "a list is not in force as its file is now: " + facts.view.list_problem;
}
std::string find_rules_problem(const ProblemFacts& facts) {
    return facts.view.problem.empty() ? ""
                                      : "the rules in force do not compile: " + facts.view.problem;
}
std::string find_empty_lists(const ProblemFacts& facts) {
    Names names;
    for (const ListSummary& list : facts.view.list_summaries) {
        if (list.known && list.entries == 0) {
            names.add(list.name);
        }
    }
    return names.empty() ? "" : "lists without an entry: " + names.text();
}
std::string find_other_programs(const ProblemFacts& facts) {
    return ports_that(
        facts, [](const PortStats& port) { return port.kernel.is_others(port.driver); },
        "another program takes frames of {} before the box does");
}
std::string find_raised_mtus(const ProblemFacts& facts) {
    return ports_that(
        facts, [](const PortStats& port) { return port.set_mtu != 0 && port.mtu > port.set_mtu; },
        "the MTU of {} is above the one that it was started for");
}
std::string find_notices(const ProblemFacts& facts) {
    Names names;
    for (const NoticeSender::State& webhook : facts.webhooks) {
        if (!webhook.problem.empty()) {
            names.add(webhook.name + " (" + webhook.problem + ")");
        }
    }
    return names.empty() ? "" : "webhooks that do not take notices: " + names.text();
}

// Seconds in which rules that are applied run already, and sluiced has yet to keep and show them.
constexpr std::int64_t kLongestApply = 10;

constexpr auto kRows = std::to_array<ProblemRow>({
    {"no_dataplane",
     "SluiceDataplaneGone",
     kCritical,
     "`systemctl status sluice-dataplane`, its log; start it",
     find_no_dataplane,
     nullptr,
     {},
     Needs::Nothing},
    {"panic", "SluicePanic", kCritical, "`audit.log` says who and when; `sluicectl panic resume`",
     find_panic},
    {"kernel_bridging", "SluiceKernelBridging", kCritical,
     "`systemctl status sluice-dataplane`, its log; start it; `sluicectl events` says when",
     nullptr, bridged_packets, "the kernel has forwarded frames without a box", Needs::Dataplane, 0,
     true},
    {"links_down", "SluicePortDown", kCritical, "the link, the cable, the peer; `sluicectl ports`",
     find_links_down},
    {"worker_stalled", "SluiceWorkerStalled", kCritical,
     "is its core shared, or its machine stopped; isolate the core; one that does not come back is "
     "started anew with the dataplane (`systemctl restart sluice-dataplane`): the box itself "
     "reports it and no more",
     find_stalled},
    {"receive_ring_full", "SluiceReceiveRingFull", kCritical,
     "more workers and queues; `sluicectl workers --cycles` (where its time goes), `sluicectl "
     "top`; cheaper conditions",
     nullptr, of_ports<&PortStats::rx_missed>,
     "frames were lost before the box saw them: it is too slow for what comes"},
    {"buffers_exhausted", "SluiceBuffersExhausted", kCritical,
     "more `mbufs` in `memory`, or a smaller share for what is `held`", nullptr,
     of_ports<&PortStats::rx_no_mbuf>, "frames were lost since no buffer was free"},
    {"key_table_full", "SluiceKeyTableFull", kCritical,
     "more `keys` in `memory.tables`; wider keys; `table_share` for the rule that has most",
     nullptr, no_place_of, "new keys find no place in a table: `on_full` decides about them"},
    {"overshoot", "SluiceOvershootBeyondBound", kCritical,
     "keep `sluicectl stats` and the log, and report it", find_overshoot},
    {"rules_behind",
     "SluiceRulesBehind",
     kCritical,
     "its log says why they were refused; `sluicectl apply` once more",
     find_behind,
     nullptr,
     {},
     Needs::Dataplane,
     kLongestApply},
    {"lists_not_in_force",
     "SluiceListsNotInForce",
     kCritical,
     "`sluicectl stats` names the file and line",
     find_list_problem,
     nullptr,
     {},
     Needs::Nothing},
    {"rules_problem",
     "",
     kCritical,
     "mend the rule file that was applied, and apply it once more",
     find_rules_problem,
     nullptr,
     {},
     Needs::Nothing},
    {"store_down", "SluiceStoreDown", kCritical,
     "`sluicectl store check`, the log of sluice-store; Redis itself, and the way to it",
     find_store_down},
    {"store_refused", "SluiceStoreRefused", kCritical,
     "`sluicectl health` says why; `sluicectl store check`; `sluicectl store init` loads the "
     "function",
     find_store_refused},
    {"store_fenced", "SluiceStoreFenced", kCritical,
     "`sluicectl health` says which of these; `sluicectl store status` names the holders, "
     "`sluicectl store forget NODE` frees the slot of one that does not return",
     find_store_fenced},
    {"no_rules", "", kWarning, "`sluicectl apply`, or `sluicectl mode` for one of its rules",
     find_no_rules},
    {"checksums_trusted", "SluiceChecksumsTrusted", kWarning,
     "switch that off where the frames come from (`ethtool -K DEVICE tx off`), then start the "
     "dataplane again, so that it learns anew; `checksums: verify` while such frames come drops "
     "all of them; `sluicectl health` names it",
     find_trusted},
    {"transmit_queue_full", "SluiceTransmitQueueFull", kWarning,
     "a faster link behind it; limits below its speed", nullptr, of_ports<&PortStats::tx_full>,
     "a port sends less than comes for it"},
    {"handover_ring_full", "SluiceHandoverRingFull", kWarning,
     "spread frames better (RSS), or more workers", nullptr, handed_over_in_vain,
     "frames were lost between workers"},
    {"key_table_filling", "SluiceKeyTableFilling", kWarning,
     "more `keys` in `memory.tables`; wider keys; `table_share` for the rule that has most; "
     "`sluicectl stats` shows which rule has them, `sluicectl keys --rule` who they are",
     find_filling},
    {"rule_share_full", "SluiceRuleShareFull", kWarning, "its `table_share`; a wider key", nullptr,
     of_tables<TableEvent::ShareFull>, "a rule holds its whole share of the table of keys"},
    {"events_lost", "SluiceEventsLost", kWarning, "`events` at fewer rules, or of fewer kinds",
     nullptr, lost_events, "events could not be told"},
    {"notices_wait",
     "SluiceNoticesLost",
     kWarning,
     "`sluicectl health` says what is wrong with it, `sluicectl notify test NAME` tries it; "
     "`sluicectl events` has what was not told",
     find_notices,
     nullptr,
     {},
     Needs::Nothing},
    {"state_not_kept", "SluiceStateNotKept", kWarning, "room and rights of the state directory",
     find_state_lost},
    {"empty_lists",
     "",
     kWarning,
     "the file of the list, and what fetches it",
     find_empty_lists,
     nullptr,
     {},
     Needs::Nothing},
    {"other_programs", "", kWarning,
     "`sluicectl xdp status` names it; `ip link set dev DEVICE xdp "
     "off` takes it away",
     find_other_programs},
    {"raised_mtus", "", kWarning,
     "restart sluice-dataplane, or `ip link set` gives the old one back", find_raised_mtus},
});

}  // namespace

std::span<const ProblemRow> problem_rows() noexcept {
    return kRows;
}

}  // namespace sluice
