#include "control/cli/health_text.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "lib/base/device_text.hpp"
#include "lib/l7/stream/checksum_trust.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace sluice {
namespace {

// Learning ends by itself where the side sends anything.
constexpr std::string_view kLearningNote =
    "nothing is dropped for a wrong one until 64 of a side came right at a worker; `checksums: "
    "verify` drops from the first frame on";

// Sides of services whose checksums are not verified any more.
std::string trusted_text(const Json& health) {
    std::string text;
    const Json sides = health.value("checksums_trusted", Json());
    for (const Json& one : sides.is_array() ? sides : Json::array()) {
        text += fmt::format("{}: checksums of its {} are trusted: {}\n", text_at(one, "service"),
                            text_at(one, "side"), kTrustingAdvice);
    }
    return text;
}

// Services and those of their sides that are not verified yet, in one line: `web (clients,
// servers), dns (servers)`.
std::string learning_text(const Json& health) {
    std::string services;
    std::string last;
    const Json sides = health.value("checksums_learning", Json());
    for (const Json& one : sides.is_array() ? sides : Json::array()) {
        const std::string service = text_at(one, "service");
        if (service == last) {
            services.pop_back();
            services += ", ";
        } else {
            services += (services.empty() ? "" : ", ") + service + " (";
        }
        services += text_at(one, "side") + ")";
        last = service;
    }
    return services.empty() ? ""
                            : fmt::format("checksums being learnt, which is no fault: {}: {}\n",
                                          services, kLearningNote);
}

// Ports that do not spread frames over workers as `rss` says.
std::string fallen_back_text(const Json& health) {
    std::string text;
    const auto ports = health.find("rss_fallen_back");
    if (ports == health.end() || !ports->is_array()) {
        return text;
    }
    for (const Json& port : *ports) {
        const std::string hashes = text_at(port, "hashes");
        text += fmt::format(
            "port {} {} cannot spread frames by {}: {}\n", text_at(port, "pair"),
            text_at(port, "side"), text_at(port, "asked"),
            port.at("handed_over").get<bool>()
                ? "its workers hand them to one another, which the receiving worker's core limits"
            : hashes.empty()
                ? "one worker gets all of them, or nobody knows which"
                : "it spreads them by " + hashes + ", and limits are counted for that");
    }
    return text;
}

// Programs that take frames before the ports do.
std::string other_programs_text(const Json& health) {
    std::string text;
    const auto programs = health.find("other_programs");
    if (programs == health.end() || !programs->is_array()) {
        return text;
    }
    for (const Json& one : *programs) {
        text += fmt::format("port {} {}: {}\n", text_at(one, "pair"), text_at(one, "side"),
                            other_program_text(text_at(one, "interface"),
                                               static_cast<unsigned>(count_at(one, "program")),
                                               text_at(one, "mode") == "native"));
    }
    return text;
}

// Ports by which nothing goes.
std::string links_down_text(const Json& health) {
    std::string text;
    const auto down = health.find("links_down");
    if (down == health.end() || !down->is_array()) {
        return text;
    }
    for (const Json& port : *down) {
        text += fmt::format("port {} {}: {}\n", text_at(port, "pair"), text_at(port, "side"),
                            port.at("gone").get<bool>() ? "its interface is gone"
                            : port.at("held_down").get<bool>()
                                ? "held down, because the other side of its pair is down"
                                : "its link is down");
    }
    return text;
}

// Sides that what comes to the other one may be too long for.
std::string low_mtus_text(const Json& health) {
    std::string text;
    const auto low = health.find("low_mtus");
    if (low == health.end() || !low->is_array()) {
        return text;
    }
    for (const Json& port : *low) {
        text += fmt::format(
            "port {} {} has an MTU of {}, below the {} that its pair needs: longer packets do not "
            "leave by it (of af_packet: dropped as too_long); `ip link set` gives it back\n",
            text_at(port, "pair"), text_at(port, "side"), count_at(port, "mtu"),
            count_at(port, "needed"));
    }
    return text;
}

// Sides that packets may come to which the pair was not set up for.
std::string raised_mtus_text(const Json& health) {
    std::string text;
    const auto raised = health.find("raised_mtus");
    if (raised == health.end() || !raised->is_array()) {
        return text;
    }
    for (const Json& port : *raised) {
        text += fmt::format(
            "port {} {} has an MTU of {}, above the {} that its pair was started for: longer "
            "packets are lost (too_long, or missed by a port); restart sluice-dataplane, or `ip "
            "link set` gives it back\n",
            text_at(port, "pair"), text_at(port, "side"), count_at(port, "mtu"),
            count_at(port, "started"));
    }
    return text;
}

// Lists that a download or a truncation may have emptied, of a daemon that tells.
std::string empty_lists_text(const Json& health) {
    std::string text;
    for (const Json& list : health.value("empty_lists", Json::array())) {
        text += fmt::format("the list {} has no entry: {} is empty\n", text_at(list, "name"),
                            text_at(list, "file"));
    }
    return text;
}

// State that ends with its dataplane, of a daemon that tells. One that is not to keep any has not
// failed to.
std::string lost_state_text(const Json& health) {
    const auto state = health.find("state");
    if (state == health.end() || !state->is_object() || state->at("survives").get<bool>() ||
        count_at(*state, "not_kept") == 0) {
        return "";
    }
    return "what keys owe will not outlive the dataplane: its state directory could not take it, "
           "its log says why\n";
}

// Rules that do not judge at this time of day, of a daemon that tells; which is no fault.
std::string inactive_rules_text(const Json& health) {
    std::string text;
    for (const Json& rule : health.value("inactive_rules", Json::array())) {
        text += (text.empty() ? "not active at this time: " : ", ") + rule.get<std::string>();
    }
    return text.empty() ? text : text + "\n";
}

// `rules` and `stats` have none then.
std::string rules_problem_text(const Json& health) {
    const Json problem = health.value("rules_problem", Json());
    return problem.is_string()
               ? fmt::format(
                     "the rules in force do not compile here, and the dataplane keeps what it has: "
                     "{}\n",
                     problem.get<std::string>())
               : "";
}

// Tenants whose rules are not a part of the set.
std::string tenants_aside_text(const Json& health) {
    std::string text;
    const Json aside = health.value("tenants_aside", Json::object());
    for (const auto& [name, why] : aside.items()) {
        text +=
            fmt::format("the rules of tenant {} stand aside: {}\n", name, why.get<std::string>());
    }
    return text;
}

// Webhooks that do not take notices, or did not take all.
// Who can reach the dashboard, and what is wrong with its tokens; nothing where it is off.
std::string web_text(const Json& health) {
    const Json web = health.value("web", Json());
    if (web.is_null()) {
        return "";
    }
    std::string text =
        fmt::format("the dashboard is at {}, with {} sessions and {} named tokens\n",
                    text_at(web, "listen"), count_at(web, "sessions"), count_at(web, "tokens"));
    for (const Json& line : web.at("reach")) {
        text += "  it can be reached by " + line.get<std::string>() + "\n";
    }
    return text + (web.at("problem").is_null()
                       ? ""
                       : "tokens that do not hold: " + text_at(web, "problem") + "\n");
}

// A line for a dataplane that was never given any rules.
std::string no_rules_text(const Json& health) {
    const Json& dataplane = health.at("dataplane");
    const bool has_none =
        has_dataplane(health) &&
        text_at(dataplane, "generation").find_first_not_of('0') == std::string::npos;
    const bool in_fleet = health.value("cluster", Json()).is_object();
    return has_none ? fmt::format(
                          "no rules were applied: every packet passes unjudged; `sluicectl "
                          "apply{}` puts some in force\n",
                          in_fleet ? " --cluster" : "")
                    : "";
}

std::string notify_text(const Json& health) {
    std::string text;
    for (const Json& webhook : health.value("notify", Json::array())) {
        const std::uint64_t lost = count_at(webhook, "failed") + count_at(webhook, "dropped");
        const Json& problem = webhook.at("problem");
        if (!problem.is_null()) {
            text += fmt::format("the webhook {} does not take notices: {}; {} wait\n",
                                text_at(webhook, "name"), problem.get<std::string>(),
                                count_at(webhook, "queued"));
        }
        if (lost != 0) {
            text += fmt::format("the webhook {} was not told of {} notices since sluiced started\n",
                                text_at(webhook, "name"), lost);
        }
    }
    return text;
}

// A box that is in order in its cluster has one line; one that is not, why.
std::string cluster_text(const Json& health) {
    const Json cluster = health.value("cluster", Json());
    if (!cluster.is_object()) {
        return "";
    }
    const std::string name = text_at(cluster, "name");
    const std::string state = text_at(cluster, "state");
    const Json& problem = cluster.at("problem");
    std::string text =
        state == "member"
            ? fmt::format("cluster {}: slot {}, generation {}{}\n", name, count_at(cluster, "slot"),
                          count_at(cluster, "generation"),
                          cluster.at("detached").get<bool>()
                              ? ", but the box runs rules of its own (detached)"
                              : "")
            : fmt::format("cluster {}: {}{}\n", name, state == "away" ? "its etcd is " : "", state);
    if (!problem.is_null()) {
        text += fmt::format("cluster {}: {}\n", name, problem.get<std::string>());
    }
    return text;
}

constexpr double kClockDifference = 0.1;  // s; more is not in order

// The box's link to the store of its cluster. One in order has nothing to say.
std::string store_text(const Json& health) {
    const Json store = health.value("store", Json());
    if (!store.is_object()) {
        return "";
    }
    std::string text;
    const std::string state = text_at(store, "state");
    const bool is_down = store.at("down").get<bool>();
    if (state != "ready" || is_down) {
        const Json& why = store.at("why");
        text += fmt::format(
            "the cluster's store is {}{}: {}\n", state == "ready" ? "slow" : state,
            why.is_null() ? "" : fmt::format(" ({})", why.get<std::string>()),
            is_down ? "limits of `scope: cluster` go by `owner_down`"
                    : "limits of `scope: cluster` go by `owner_down` once their credit is spent");
    }
    if (store.value("over_budget", false)) {
        text +=
            "more keys than `budget` are to be told to the cluster's store: those beyond it go "
            "by their local share\n";
    }
    if (store.value("windows_apart", false)) {
        text +=
            "this box's clock is not the one of the cluster's store: windows of `scope: cluster` "
            "go by their local share\n";
    }
    if (const double off = store.value("clock_off_s", 0.0); std::abs(off) > kClockDifference) {
        text += fmt::format("this box's clock is {:.1f} s {} that of the cluster's store\n",
                            std::abs(off), off < 0 ? "ahead of" : "behind");
    }
    return text;
}

}  // namespace

bool has_dataplane(const Json& health) {
    return health.at("dataplane").at("connected").get<bool>();
}

std::string health_text(const Json& document) {
    const Json& dataplane = document.at("dataplane");
    const std::string text = fmt::format(
        "sluiced: {}\ndataplane: {}\n", text_at(document, "version"),
        has_dataplane(document) ? fmt::format("pid {}, generation {}", dataplane.at("pid").dump(),
                                              text_at(dataplane, "generation"))
                                : "not connected");
    return text + no_rules_text(document) + panic_text(document) + rules_problem_text(document) +
           tenants_aside_text(document) + trusted_text(document) + fallen_back_text(document) +
           other_programs_text(document) + links_down_text(document) + low_mtus_text(document) +
           raised_mtus_text(document) + lost_state_text(document) + list_problem_text(document) +
           empty_lists_text(document) + inactive_rules_text(document) + notify_text(document) +
           web_text(document) + cluster_text(document) + store_text(document) +
           unconfirmed_text(document) + learning_text(document);
}

}  // namespace sluice
