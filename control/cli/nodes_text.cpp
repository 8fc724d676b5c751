#include "control/cli/nodes_text.hpp"

#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/fleet/rollout_words.hpp"
#include "control/fleet/store_reading_json.hpp"
#include "control/time_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kShownDigits = 12;

std::string short_sum(const std::string& sum) {
    return sum.substr(0, kShownDigits);
}

std::string panic_line(const std::vector<NodeRecord>& nodes) {
    std::vector<std::string_view> names;
    for (const NodeRecord& node : nodes) {
        if (node.is_panic) {
            names.push_back(node.node);
        }
    }
    return names.empty() ? ""
                         : bold(fmt::format("PANIC: {} forward everything unjudged; `sluicectl "
                                            "panic resume --cluster` ends it",
                                            fmt::join(names, ", "))) +
                               "\n";
}

std::string word_or_dash(const std::string& word) {
    return word.empty() ? "-" : word;
}

// Figures that only an answer of the store gives.
std::string of_store(const NodeRecord& node, std::string text) {
    return node.store.state == "ready" ? std::move(text) : "-";
}

// Nanoseconds, of a record that may say anything.
std::int64_t microseconds(std::uint64_t count) {
    constexpr std::uint64_t kMost = 1'000'000'000'000;  // us
    return static_cast<std::int64_t>(std::min(count, kMost)) * 1'000;
}

std::string clock_text(std::int64_t off_us) {
    const auto size =
        off_us < 0 ? 0 - static_cast<std::uint64_t>(off_us) : static_cast<std::uint64_t>(off_us);
    return (off_us < 0 ? "-" : "+") + time_text(microseconds(size));
}

std::vector<HeadSet> sets_of(const FleetView& view) {
    std::vector<HeadSet> sets;
    if (view.head) {
        sets = view.head->value.before;
        sets.insert(sets.begin(), view.head->value.now);
    }
    return sets;
}

// UTC seconds as text; a set's record bounds them.
std::string utc_text(std::int64_t at) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(at)));
}

// Boxes that have not followed the latest change of single keys.
std::string behind_lines(const std::vector<NodeRecord>& nodes) {
    std::vector<std::uint64_t> numbers;
    std::ranges::transform(nodes, std::back_inserter(numbers), &NodeRecord::settings);
    const std::uint64_t newest = newest_of(std::move(numbers));
    std::string text;
    for (const NodeRecord& node : nodes) {
        if (node.settings < newest) {
            text += fmt::format("{} has followed the changes of single keys up to {}, of {}\n",
                                node.node, node.settings, newest);
        }
    }
    return text;
}

}  // namespace

std::string nodes_text(const ClusterNodes& cluster) {
    const std::optional<HeadSet>& head = cluster.head;
    std::string text = head ? fmt::format("generation {}, set {}, by {}\n", head->generation,
                                          short_sum(head->set.sum), head->by)
                            : "no rules were ever brought to this cluster\n";
    text += panic_line(cluster.nodes);
    Table table{{{"SLOT", kRight},
                 {"NODE"},
                 {"HOST"},
                 {"VERSION"},
                 {"GENERATION", kRight},
                 {"SET"},
                 {"RULES"},
                 {"STORE"},
                 {"RTT", kRight},
                 {"CLOCK", kRight},
                 {"UNSYNCED", kRight},
                 {"PROBLEM"}},
                2};
    for (const NodeRecord& node : cluster.nodes) {
        table.row({fmt::format("{}", node.slot), node.node, node.host, node.version,
                   fmt::format("{}", node.in_force.generation), short_sum(node.in_force.set.sum),
                   std::string{rules_word(node, head)}, word_or_dash(node.store.state),
                   of_store(node, time_text(microseconds(node.store.rtt_us))),
                   of_store(node, clock_text(node.store.clock_off_us)),
                   of_store(node, fmt::format("{}", node.store.unsynced)), problem_of(node)});
    }
    text += cluster.nodes.empty() ? "no box is there\n" : table.text();
    text += behind_lines(cluster.nodes);
    if (cluster.nodes.size() < cluster.size) {
        text += fmt::format("{} of {} slots are taken\n", cluster.nodes.size(), cluster.size);
    }
    for (const std::string& node : cluster.away) {
        text += fmt::format("{} is away; where it does not return, `sluicectl nodes forget {}`\n",
                            node, node);
    }
    for (const std::string& node : cluster.drained) {
        text +=
            fmt::format("{} is drained; `sluicectl drain --undo {}` lets it back in\n", node, node);
    }
    return text;
}

Json nodes_json(const ClusterNodes& cluster) {
    const std::optional<HeadSet>& head = cluster.head;
    Json rows = Json::array();
    for (const NodeRecord& node : cluster.nodes) {
        rows.push_back({{"slot", node.slot},
                        {"node", node.node},
                        {"host", node.host},
                        {"version", node.version},
                        {"generation", node.in_force.generation},
                        {"set", node.in_force.set.sum},
                        {"rules", rules_word(node, head)},
                        {"rules_generation", node.rules},
                        {"settings", node.settings},
                        {"store", reading_json(node.store)},
                        {"problem", problem_of(node).empty() ? Json() : Json(problem_of(node))}});
    }
    return {{"generation", head ? head->generation : 0},
            {"set", head ? head->set.sum : ""},
            {"nodes", std::move(rows)},
            {"drained", cluster.drained},
            {"away", cluster.away},
            {"size", cluster.size}};
}

std::string rollout_text(const FleetView& view, const std::vector<NodeRecord>& nodes) {
    if (!view.rollout) {
        return "no rollout is under way\n";
    }
    const Rollout& rollout = view.rollout->value;
    std::string text = fmt::format("generation {}, set {}, by {}: {}\n", rollout.next.generation,
                                   short_sum(rollout.next.set.sum), rollout.next.by,
                                   rollout.is_everywhere  ? "on trial on all boxes"
                                   : rollout.is_staged    ? "on trial on some boxes"
                                   : !rollout.is_uploaded ? "being uploaded"
                                                          : "being staged");
    Table table{{{"NODE"}, {"STAGED"}, {"RUNS IT"}, {"PROBLEM"}}};
    for (const NodeRecord& node : nodes) {
        const bool has_verdict = node.staged.rollout == rollout.id;
        table.row({node.node,
                   !has_verdict          ? "not yet"
                   : node.staged.is_good ? "yes"
                                         : "cannot",
                   node.in_force == rollout.next ? "yes" : "no",
                   has_verdict && !node.staged.why.empty() ? node.staged.why : problem_of(node)});
    }
    return text + table.text();
}

std::string history_text(const FleetView& view) {
    Table table{{{"GENERATION", kRight}, {"SET"}, {"BY"}, {"AT"}}};
    for (const HeadSet& set : sets_of(view)) {
        table.row(
            {std::to_string(set.generation), short_sum(set.set.sum), set.by, utc_text(set.at)});
    }
    return table.text();
}

Json history_json(const FleetView& view) {
    Json sets = Json::array();
    for (const HeadSet& set : sets_of(view)) {
        sets.push_back({{"generation", set.generation},
                        {"set", set.set.sum},
                        {"by", set.by},
                        {"at", utc_text(set.at)}});
    }
    return {{"sets", sets}};
}

}  // namespace sluice
