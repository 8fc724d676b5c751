#include "control/cli/stats_text.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/rates.hpp"
#include "control/cli/rule_text.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

// One table of counters that have a name each; zeros are left out.
std::string counter_table(const Sample& sample, const char* group, std::string_view title,
                          std::string_view what = "PACKETS") {
    const Json& counters = sample.now.at(group);
    const Json* before = sample.before == nullptr ? nullptr : &sample.before->at(group);
    Table table{{{title}, {what, kRight}, {sample.before != nullptr ? "/S" : "", kRight}}};
    for (const auto& [name, value] : counters.items()) {
        const auto count = value.get<std::uint64_t>();
        if (count != 0) {
            table.row({name, grouped(count),
                       before != nullptr ? rate_text(count, count_in(before, name), sample.seconds)
                                         : ""});
        }
    }
    return table.text();
}

// Packets by verdict, and their bytes.
std::string verdict_table(const Sample& sample) {
    const bool rates = sample.has_rates();
    const bool has_bytes = sample.now.contains("verdict_bytes");
    const Json none = Json::object();
    const Json& all_bytes = has_bytes ? sample.now.at("verdict_bytes") : none;
    const Json* before = rates ? &sample.before->at("verdicts") : nullptr;
    const Json* bytes_before = rates && has_bytes ? &sample.before->at("verdict_bytes") : nullptr;
    Table table{{{"VERDICT"},
                 {"PACKETS", kRight},
                 {rates ? "/S" : "", kRight},
                 {has_bytes ? "BYTES" : "", kRight},
                 {rates && has_bytes ? "BIT/S" : "", kRight}}};
    for (const auto& [name, value] : sample.now.at("verdicts").items()) {
        const auto count = value.get<std::uint64_t>();
        if (count == 0) {
            continue;
        }
        const std::uint64_t bytes = count_in(&all_bytes, name);
        table.row({name, grouped(count),
                   rates ? rate_text(count, count_in(before, name), sample.seconds) : "",
                   has_bytes ? byte_count_text(bytes) : "",
                   bytes_before != nullptr
                       ? bit_rate_of(bytes, count_in(bytes_before, name), sample.seconds)
                       : ""});
    }
    return table.text();
}

bool has_counts(const Json& counters) {
    return std::any_of(counters.begin(), counters.end(),
                       [](const Json& count) { return count.get<std::uint64_t>() != 0; });
}

// A kind of things: what there is of it now, and what happened to it.
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

// Connections that went unread, of a daemon that tells: `http_gap` is reason and protocol.
std::string unread_text(const Sample& sample) {
    const char* const group = "unread_connections";
    if (!sample.now.contains(group) || !has_counts(sample.now.at(group))) {
        return "";
    }
    const Json* before = sample.before == nullptr ? nullptr : &sample.before->at(group);
    Table table{{{"UNREAD"},
                 {"READ BEFORE"},
                 {"CONNECTIONS", kRight},
                 {before != nullptr ? "/S" : "", kRight}}};
    for (const auto& [name, value] : sample.now.at(group).items()) {
        const auto count = value.get<std::uint64_t>();
        const std::size_t end = name.find('_');
        if (count == 0 || end == std::string::npos) {
            continue;
        }
        const std::string protocol = name.substr(0, end);
        table.row(
            {name.substr(end + 1), protocol == "none" ? "nothing" : protocol, grouped(count),
             before != nullptr ? rate_text(count, count_in(before, name), sample.seconds) : ""});
    }
    return "\n" + table.text();
}

// True if any rule has such a member.
bool any_has(const Json& rules, const char* member) {
    return std::any_of(rules.begin(), rules.end(),
                       [member](const Json& rule) { return rule.contains(member); });
}

// A column of rule_table(); `title` empty: it is not shown.
struct RuleColumn {
    std::string_view title;
    std::string (*cell)(const Json& rule, const Json* before, double seconds);
};

template <const char* kMember>
std::string count_text(const Json& rule, const Json* /*before*/, double /*seconds*/) {
    return grouped(count_in(&rule, kMember));
}
template <const char* kMember>
std::string counted_bytes(const Json& rule, const Json* /*before*/, double /*seconds*/) {
    return byte_count_text(count_in(&rule, kMember));
}
template <const char* kMember>
std::string counted_where_any(const Json& rule, const Json* /*before*/, double /*seconds*/) {
    return rule.contains(kMember) ? grouped(count_in(&rule, kMember)) : "";
}
template <const char* kMember>
std::string packet_rate(const Json& rule, const Json* before, double seconds) {
    return before == nullptr
               ? ""
               : rate_text(count_in(&rule, kMember), count_in(before, kMember), seconds);
}
template <const char* kMember>
std::string bit_rate(const Json& rule, const Json* before, double seconds) {
    return before == nullptr
               ? ""
               : bit_rate_of(count_in(&rule, kMember), count_in(before, kMember), seconds);
}

constexpr char kMatched[] = "matched";
constexpr char kAdmitted[] = "admitted";
constexpr char kExceeded[] = "exceeded";
constexpr char kSkipped[] = "skipped";
constexpr char kOpenConnections[] = "open_connections";
constexpr char kAdmittedBytes[] = "admitted_bytes";
constexpr char kExceededBytes[] = "exceeded_bytes";
constexpr char kEntries[] = "keys";

std::vector<RuleColumn> rule_columns(const Json& rules, bool rates) {
    const bool bytes = any_has(rules, kAdmittedBytes);
    return {{"MATCHED", count_text<kMatched>},
            {"ADMITTED", count_text<kAdmitted>},
            {"EXCEEDED", count_text<kExceeded>},
            {"SKIPPED", count_text<kSkipped>},
            {rates ? "ADMITTED/S" : "", packet_rate<kAdmitted>},
            {rates ? "EXCEEDED/S" : "", packet_rate<kExceeded>},
            {any_has(rules, kOpenConnections) ? "OPEN" : "", counted_where_any<kOpenConnections>},
            {bytes ? "BYTES ADMITTED" : "", counted_bytes<kAdmittedBytes>},
            {bytes ? "BYTES EXCEEDED" : "", counted_bytes<kExceededBytes>},
            {rates && bytes ? "ADMITTED BIT/S" : "", bit_rate<kAdmittedBytes>},
            {rates && bytes ? "EXCEEDED BIT/S" : "", bit_rate<kExceededBytes>},
            {any_has(rules, kEntries) ? "KEYS" : "", counted_where_any<kEntries>}};
}

// The mode as `rules` calls it; a daemon before this one does not tell of an end.
std::string mode_cell(const Json& rule) {
    return rule.value("ended", false) ? "ended" : text_at(rule, "mode");
}

// Zeros of a rule that is off say nothing of what it counted before.
std::string off_note(const Json& rules) {
    const bool any =
        std::ranges::any_of(rules, [](const Json& rule) { return text_at(rule, "mode") == "off"; });
    return any ? "rules that are off or have ended count nothing: what they counted before is "
                 "not "
                 "shown here\n"
               : "";
}

std::string rule_table(const Sample& sample) {
    const Json& rules = sample.now.at("rules");
    std::vector<RuleColumn> shown = rule_columns(rules, sample.has_rates());
    std::erase_if(shown, [](const RuleColumn& column) { return column.title.empty(); });
    std::vector<Table::Column> columns{{"RULE"}, {"MODE"}};
    for (const RuleColumn& column : shown) {
        columns.push_back({column.title, kRight});
    }
    Table table{std::move(columns)};
    for (const Json& rule : rules) {
        const auto id = text_at(rule, "id");
        const Json* before = item_before(sample, "rules", rule, {"id"});
        std::vector<std::string> cells{id, mode_cell(rule)};
        for (const RuleColumn& column : shown) {
            cells.push_back(column.cell(rule, before, sample.seconds));
        }
        table.row(std::move(cells));
    }
    return table.text() + off_note(rules);
}

// The limits that refused, of rules with several; nothing where there are none.
std::string limit_table(const Sample& sample) {
    Table table{{{"RULE"}, {"LIMIT"}, {"REFUSED", kRight}, {"KEYS", kRight}}, 2};
    for (const Json& rule : sample.now.at("rules")) {
        if (!rule.contains("limits")) {
            continue;
        }
        for (const Json& limit : rule.at("limits")) {
            table.row({text_at(rule, "id"), text_at(limit, "name"),
                       grouped(count_in(&limit, "refused")), grouped(count_in(&limit, kEntries))});
        }
    }
    return table.empty() ? "" : "\n" + table.text();
}

// Packets that are none of the matched, by rule; nothing where there are none.
std::string drop_table(const Sample& sample, const char* member, std::string_view title) {
    Table table{{{title}, {"PACKETS", kRight}, {sample.before != nullptr ? "/S" : "", kRight}}};
    bool any = false;
    for (const Json& rule : sample.now.at("rules")) {
        const auto id = text_at(rule, "id");
        if (const std::uint64_t count = count_in(&rule, member); count != 0) {
            any = true;
            const Json* before = item_before(sample, "rules", rule, {"id"});
            table.row({id, grouped(count),
                       before == nullptr
                           ? ""
                           : rate_text(count, count_in(before, member), sample.seconds)});
        }
    }
    return any ? "\n" + table.text() : "";
}

std::string trust_text(const Json& service, const char* side) {
    const auto checksums = service.find("checksums");
    return checksums == service.end() ? "" : text_at(*checksums, side);
}

// Services with the modes they run in; nothing where none is declared.
std::string service_table(const Json& services) {
    if (services.empty()) {
        return "";
    }
    Table table{{{"SERVICE"}, {"PROTOCOL"}, {"MODE"}, {"CHECKSUMS OF CLIENTS"}, {"OF SERVERS"}}};
    for (const Json& service : services) {
        table.row({text_at(service, "id"), text_at(service, "protocol"), service_mode_text(service),
                   trust_text(service, "clients"), trust_text(service, "servers")});
    }
    return "\n" + table.text();
}

// Counts are of all services that monitor: the counters know the reason alone.
std::string would_refuse_table(const Sample& sample) {
    return sample.now.contains("would_refuse") && has_counts(sample.now.at("would_refuse"))
               ? "\n" + counter_table(sample, "would_refuse", "SERVICES WOULD REFUSE")
               : "";
}

}  // namespace

std::string list_problem_text(const Json& document) {
    const auto found = document.find("list_problem");
    const bool is_told = found != document.end() && found->is_string();
    const std::string problem = is_told ? found->get<std::string>() : "";
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
        fmt::format("generation {}, up {}, {} packets\n", text_at(now, "generation"),
                    duration_text(static_cast<std::uint64_t>(now.at("uptime_s").get<double>())),
                    grouped(count_at(now, "packets")));
    text += unconfirmed_text(now);
    text += panic_text(now) + list_problem_text(now);
    if (const auto full = count_at(now, "table_full"); full != 0) {
        text += fmt::format("the bucket table was full {} times\n", grouped(full));
    }
    if (now.contains("verdicts")) {  // not of chosen rules alone
        text += "\n" + verdict_table(sample) + "\n" + counter_table(sample, "reasons", "REASON");
    }
    text += service_table(now.at("services")) + would_refuse_table(sample);
    text += text_of(kConnections, sample) + unread_text(sample) + text_of(kAsks, sample);
    if (!now.at("rules").empty()) {
        text += "\n" + rule_table(sample) + limit_table(sample);
        text += drop_table(sample, "banned_sources", "BANNED SOURCES OF");
        text += drop_table(sample, "early_dropped", "DROPPED EARLY BY");  // by the kernel
    }
    if (const std::uint64_t left_out = count_in(&now, "rules_left_out"); left_out != 0) {
        text += left_out == 1 ? "\none rule that has matched nothing is left out\n"
                              : fmt::format("\n{} rules that have matched nothing are left out\n",
                                            grouped(left_out));
    }
    return text;
}

}  // namespace sluice
