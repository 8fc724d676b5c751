#include "control/cli/stats_text.hpp"

#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

struct Sample {
    const Json& now;
    const Json* before;
    double seconds;
};

// How fast a counter grew, per second; empty where it has none.
std::string rate(std::uint64_t now, std::uint64_t before, double seconds) {
    if (now < before || seconds <= 0) {
        return "";
    }
    return grouped(
        static_cast<std::uint64_t>(std::llround(static_cast<double>(now - before) / seconds)));
}

std::uint64_t count_in(const Json* object, const std::string& member) {
    return object == nullptr ? 0 : object->value(member, std::uint64_t{0});
}

// One table of counters that have a name each; zeros are left out.
std::string counter_table(const Sample& sample, const char* group, std::string_view title,
                          std::string_view what = "PACKETS") {
    const Json& counters = sample.now.at(group);
    const Json* before = sample.before == nullptr ? nullptr : &sample.before->at(group);
    Table table{{{title}, {what, kRight}, {sample.before != nullptr ? "/S" : "", kRight}}};
    for (const auto& [name, value] : counters.items()) {
        const auto count = value.get<std::uint64_t>();
        if (count != 0) {
            table.row(
                {name, grouped(count),
                 before != nullptr ? rate(count, count_in(before, name), sample.seconds) : ""});
        }
    }
    return table.text();
}

bool has_counts(const Json& counters) {
    return std::any_of(counters.begin(), counters.end(),
                       [](const Json& count) { return count.get<std::uint64_t>() != 0; });
}

// What there is now of one kind, and what happened to it.
struct Kind {
    const char* gauges;
    std::string_view gauge_title;
    const char* events;
    std::string_view event_title;
};
constexpr Kind kConnections{"connections", "REMEMBERED", "connection_events", "CONNECTION EVENT"};
constexpr Kind kAsks{"asks", "ASKING OWNERS", "ask_events", "ASK EVENT"};

// Nothing where there was nothing.
std::string text_of(const Kind& kind, const Sample& sample) {
    std::string text;
    const Json& gauges = sample.now.at(kind.gauges);
    if (has_counts(gauges)) {
        Table table{{{kind.gauge_title}, {"NOW", kRight}}};
        for (const auto& [name, value] : gauges.items()) {
            if (const auto count = value.get<std::uint64_t>(); count != 0) {
                table.row({name, grouped(count)});
            }
        }
        text += "\n" + table.text();
    }
    if (has_counts(sample.now.at(kind.events))) {
        text += "\n" + counter_table(sample, kind.events, kind.event_title, "TIMES");
    }
    return text;
}

const Json* rule_before(const Json* before, const std::string& id) {
    if (before == nullptr) {
        return nullptr;
    }
    for (const Json& rule : before->at("rules")) {
        if (rule.at("id") == id) {
            return &rule;
        }
    }
    return nullptr;
}

std::string rule_table(const Sample& sample) {
    const bool rates = sample.before != nullptr;
    const Json& rules = sample.now.at("rules");
    const bool opens = std::any_of(rules.begin(), rules.end(), [](const Json& rule) {
        return rule.contains("open_connections");
    });
    Table table{{{"RULE"},
                 {"MODE"},
                 {"MATCHED", kRight},
                 {"ADMITTED", kRight},
                 {"EXCEEDED", kRight},
                 {"SKIPPED", kRight},
                 {rates ? "ADMITTED/S" : "", kRight},
                 {rates ? "EXCEEDED/S" : "", kRight},
                 {opens ? "OPEN" : "", kRight}}};
    for (const Json& rule : rules) {
        const auto id = rule.at("id").get<std::string>();
        const Json* before = rule_before(sample.before, id);
        const auto count = [&rule](const char* member) {
            return rule.at(member).get<std::uint64_t>();
        };
        const auto speed = [&](const char* member) {
            return before != nullptr ? rate(count(member), count_in(before, member), sample.seconds)
                                     : std::string{};
        };
        table.row({id, rule.at("mode").get<std::string>(), grouped(count("matched")),
                   grouped(count("admitted")), grouped(count("exceeded")),
                   grouped(count("skipped")), speed("admitted"), speed("exceeded"),
                   rule.contains("open_connections") ? grouped(count("open_connections")) : ""});
    }
    return table.text();
}

// Of rules whose packets the kernel drops before the box sees them; nothing where there are none.
std::string early_drop_table(const Sample& sample) {
    Table table{{{"DROPPED EARLY BY"},
                 {"PACKETS", kRight},
                 {sample.before != nullptr ? "/S" : "", kRight}}};
    bool any = false;
    for (const Json& rule : sample.now.at("rules")) {
        const auto id = rule.at("id").get<std::string>();
        if (const std::uint64_t count = count_in(&rule, "early_dropped"); count != 0) {
            any = true;
            const Json* before = rule_before(sample.before, id);
            table.row({id, grouped(count),
                       before == nullptr
                           ? ""
                           : rate(count, count_in(before, "early_dropped"), sample.seconds)});
        }
    }
    return any ? "\n" + table.text() : "";
}

}  // namespace

std::string list_problem_text(const Json& document) {
    const std::string problem = document.value("list_problem", "");
    return problem.empty()
               ? ""
               : bold("a list or database has changed and is not in force, the old one goes on: ") +
                     problem + "\n";
}

std::string panic_text(const Json& document) {
    const auto panic = document.find("panic");
    const bool is_on = panic != document.end() && panic->is_boolean() && panic->get<bool>();
    return is_on ? bold(
                       "PANIC: all traffic is forwarded unjudged; `sluicectl panic resume` ends "
                       "it") +
                       "\n"
                 : "";
}

std::string stats_text(const Json& now, const Json* before, double seconds) {
    const Sample sample{now, before, seconds};
    std::string text =
        fmt::format("generation {}, up {} s, {} packets\n", now.at("generation").get<std::string>(),
                    grouped(static_cast<std::uint64_t>(now.at("uptime_s").get<double>())),
                    grouped(now.at("packets").get<std::uint64_t>()));
    text += unconfirmed_text(now);
    text += panic_text(now) + list_problem_text(now);
    if (const auto full = now.at("table_full").get<std::uint64_t>(); full != 0) {
        text += fmt::format("the bucket table was full {} times\n", grouped(full));
    }
    if (now.contains("verdicts")) {  // not of chosen rules alone
        text += "\n" + counter_table(sample, "verdicts", "VERDICT") + "\n" +
                counter_table(sample, "reasons", "REASON");
    }
    text += text_of(kConnections, sample) + text_of(kAsks, sample);
    if (!now.at("rules").empty()) {
        text += "\n" + rule_table(sample) + early_drop_table(sample);
    }
    if (const std::uint64_t left_out = count_in(&now, "rules_left_out"); left_out != 0) {
        text +=
            fmt::format("\n{} rules that have matched nothing are left out\n", grouped(left_out));
    }
    return text;
}

}  // namespace sluice
