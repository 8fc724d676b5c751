#include "lib/policy/placement/cluster_limits.hpp"

#include "lib/peer/merge/cluster_terms.hpp"
#include "lib/policy/limits/limit_builder.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace sluice {
namespace {

// An answer of a store in the same place.
constexpr Nanoseconds kUsualRoundTrip = std::chrono::milliseconds{1};

constexpr const char* kNumbersOfTheirOwn = "keys with numbers of their own";

std::string amount_text(std::uint64_t amount, Per per) {
    return std::to_string(amount) +
           (per == Per::Byte ? " bytes" : std::string{unit_word(per, amount == 1)});
}

ClusterQuestion question_of(const SharedNumbers& numbers, const RssMapping& box, LimitScope scope) {
    const std::size_t workers =
        scope == LimitScope::Merged ? box.workers : std::min<std::size_t>(box.workers, 2);
    return {.limit = numbers.limit,
            .largest_cost = numbers.largest_cost,
            .machines = box.cluster.size,
            .workers = workers,
            .merge_interval = box.merge_interval,
            .requests = !is_of_packet(numbers.per),
            .max_unsynced = numbers.max_unsynced};
}

// The reason for which the dataplane keeps the limit to its box for now; nullptr: it shares it.
const char* not_yet(const SharedNumbers& numbers, LimitScope scope) {
    if (numbers.overridden) {
        return kNumbersOfTheirOwn;
    }
    if (has_gauges(numbers.limit)) {
        return nullptr;
    }
    if (!is_told_to_store(numbers.limit)) {
        return "windows that each box numbers by itself (`sliding_counters`, and those of "
               "fractions of a microsecond)";
    }
    return scope == LimitScope::Asked ? "limits that workers ask the owner of a key about"
                                      : nullptr;
}

std::string note_of(const SharedNumbers& numbers, const ClusterSummary& cluster, Mode mode) {
    const ClusterTerms& terms = cluster.terms;
    const std::string down{kOwnerDownNames[static_cast<std::size_t>(cluster.owner_down)]};
    if (terms.sharing == ClusterSharing::Asked && store_asking_of(numbers.limit).is_asked()) {
        if (mode == Mode::Monitor) {
            return ", asked of the cluster's store once the rule enforces: a rule that monitors "
                   "holds no request up, and each box counts by itself";
        }
        const auto wait =
            std::chrono::duration_cast<std::chrono::milliseconds>(kLongestStoreWait).count();
        return ", asked of the cluster's store: " + std::to_string(cluster.cluster.size) +
               " boxes together admit no more; each request waits for the store's answer, " +
               std::to_string(wait) + " ms at most (store away: " + down + ")";
    }
    if (terms.sharing != ClusterSharing::Merged) {
        return "";
    }
    if (has_gauges(numbers.limit)) {
        return ", + " + amount_text(terms.overshoot, numbers.per) + " of " +
               std::to_string(cluster.cluster.size) + " boxes together (each box opens at most " +
               amount_text(terms.box_unsynced, numbers.per) +
               " of a key that the store has not heard of; store away: " + down + ")";
    }
    const unsigned windows = windows_touched(numbers.limit);
    std::string note = ", + " + (windows > 1 ? std::to_string(windows) + " * " : "") +
                       amount_text(terms.overshoot, numbers.per) + " of " +
                       std::to_string(cluster.cluster.size) +
                       " boxes together (merged over the cluster: each box is at most " +
                       amount_text(terms.box_unsynced, numbers.per) +
                       " ahead of the store and passes no more of a key at once";
    if (terms.worker_unsynced != 0) {
        note += ", each worker " + amount_text(terms.worker_unsynced, numbers.per) +
                " ahead of its box";
    }
    return note + "; store away: " + down + ")";
}

// The fault of a limit that this cluster does not share; empty: it does.
std::string fault_of(const SharedNumbers& numbers, const ClusterSummary& cluster) {
    using Kind = BoxCluster::Kind;
    if (cluster.cluster.kind == Kind::None) {
        return "`scope: cluster`, and this box is of no cluster: sluice.yaml needs `cluster:` with "
               "a `store`";
    }
    if (cluster.cluster.kind == Kind::Storeless) {
        return "`scope: cluster`, and `cluster:` of sluice.yaml has no `store`, in which boxes "
               "count together";
    }
    const ClusterTerms& terms = cluster.terms;
    const bool is_asked =
        terms.sharing == ClusterSharing::Asked && store_asking_of(numbers.limit).is_asked();
    if (terms.sharing == ClusterSharing::Merged || is_asked) {
        return "";
    }
    const std::string boxes = std::to_string(cluster.cluster.size) + " boxes" +
                              (cluster.cluster.kind == Kind::Assumed ? " (assumed)" : "");
    std::string text = boxes + " cannot share it: " + std::string{terms.why};
    if (terms.least != 0) {
        text += "; it needs a burst or count of at least " + std::to_string(terms.least) +
                " to be merged";
    }
    return text + (terms.sharing == ClusterSharing::Asked
                       ? "; the store is asked about windows of whole microseconds, and about logs "
                         "of " +
                             std::to_string(kMostLogged) + " units at most"
                       : std::string{"; `scope: box` leaves it to each box"});
}

std::string warning_of(const ClusterSummary& cluster, Per per) {
    const bool is_merged = cluster.terms.sharing == ClusterSharing::Merged;
    if (!is_merged || cluster.terms.box_unsynced >= cluster.enough_unsynced) {
        return "";
    }
    const auto sync =
        std::chrono::duration_cast<std::chrono::milliseconds>(cluster.cluster.sync).count();
    return "each box may be " + amount_text(cluster.terms.box_unsynced, per) +
           " ahead of the store, less than twice what its rate gives in " + std::to_string(sync) +
           " ms (`sync`) and a round trip, " + amount_text(cluster.enough_unsynced, per) +
           ": a store that is slow to answer can keep it below its rate; a larger burst or count "
           "avoids that";
}

void report(const RuleSummary& rule, const LimitSummary& limit, Purpose purpose,
            Problems& problems) {
    const ClusterSummary& cluster = *limit.cluster;
    const std::string name = "the limit `" + limit.name + "` of " + rule.id;
    const auto say = [&](const std::string& what, bool is_error) {
        if (is_error && rule.mode != Mode::Off) {
            problems.error(cluster.at, what);
        } else {
            problems.warning(cluster.at, what);
        }
    };
    const std::string fault = fault_of(*limit.numbers, cluster);
    if (fault.empty() && cluster.not_yet != nullptr) {
        say("not enforced yet: `scope: cluster` of " + (cluster.not_yet + (", in " + name)),
            purpose == Purpose::Enforce);
    } else if (!fault.empty()) {
        say(name + ": " + fault, true);
    } else if (const std::string warning = warning_of(cluster, limit.numbers->per);
               !warning.empty()) {
        say(name + ": " + warning, false);
    }
}

}  // namespace

ClusterTerms cluster_terms_for(const SharedNumbers& numbers, const RssMapping& box,
                               LimitScope scope) {
    return cluster_terms_for(question_of(numbers, box, scope));
}

void note_cluster(LimitSummary& limit, const RssMapping& box, LimitScope scope, Mode mode,
                  bool shapes) {
    if (!limit.cluster || !limit.numbers) {
        return;
    }
    ClusterSummary& cluster = *limit.cluster;
    cluster.cluster = box.cluster;
    const ClusterQuestion question = question_of(*limit.numbers, box, scope);
    cluster.terms = shapes ? ClusterTerms{.why =
                                              "packets that wait for their departure leave one "
                                              "box in one order (`shape`)"}
                           : cluster_terms_for(question);
    if (cluster.terms.sharing == ClusterSharing::Merged) {
        // Connections have no rate at which they open.
        cluster.enough_unsynced =
            has_gauges(question.limit)
                ? 0
                : enough_box_unsynced(question, kUsualRoundTrip, box.cluster.sync);
        cluster.not_yet = not_yet(*limit.numbers, scope);
    } else if (cluster.terms.sharing == ClusterSharing::Asked && limit.numbers->overridden) {
        cluster.not_yet = kNumbersOfTheirOwn;
    }
    cluster.note = note_of(*limit.numbers, cluster, mode);
}

void report_cluster_limits(std::span<const RuleSummary> rules, Purpose purpose,
                           Problems& problems) {
    for (const RuleSummary& rule : rules) {
        for (const LimitSummary& limit : rule.limits) {
            if (limit.cluster && limit.numbers) {
                report(rule, limit, purpose, problems);
            }
        }
    }
}

}  // namespace sluice
