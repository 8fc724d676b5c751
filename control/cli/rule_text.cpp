#include "control/cli/rule_text.hpp"

#include "control/active_json.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/stats_text.hpp"
#include "control/cli/table.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "control/visible_text.hpp"
#include "lib/policy/services/stance_text.hpp"

#include <fmt/format.h>

#include <vector>

namespace sluice {
namespace {

std::string source_lines(const Json& rule) {
    const Json& source = rule.at("source");
    if (source.is_null() && text_at(rule, "kind") != "rule") {
        return "";
    }
    if (source.is_null()) {
        return "its lines cannot be shown: the rules of its file are written in brackets\n";
    }
    const auto text = text_at(source, "text");
    return fmt::format("from {}, lines {} to {}:\n\n{}{}", text_at(source, "file"),
                       count_at(source, "line"), count_at(source, "last_line"), text,
                       text.ends_with('\n') ? "" : "\n");
}

std::string limit_table(const Json& limits) {
    Table table{{{"LIMIT"}, {"KEY"}, {"IS"}, {"SCOPE"}}};
    for (const Json& limit : limits) {
        table.row({text_at(limit, "name"), text_at(limit, "key"), text_at(limit, "text"),
                   scope_text(text_at(limit, "scope"), limit.contains("cluster"))});
    }
    std::string text = "\n" + table.text();
    for (const Json& limit : limits) {
        text += fmt::format("limit {} admits at most {}\n", text_at(limit, "name"),
                            text_at(limit, "bound"));
    }
    return text;
}

std::string list_table(const Json& lists) {
    Table table{{{"LIST"}, {"TYPE"}, {"ENTRIES", kRight}, {"FILE"}}};
    for (const Json& list : lists) {
        table.row({text_at(list, "name"), text_at(list, "type"),
                   list.at("known").get<bool>() ? grouped(count_at(list, "entries")) : "unknown",
                   text_at(list, "file")});
    }
    return "\n" + table.text();
}

std::string keys_table(const Json& keys) {
    Table table{{{"KEY"}, {"SET"}, {"UNTIL"}, {"REASON"}}};
    for (const Json& key : keys) {
        table.row({text_at(key, "key"), text_at(key, "set"),
                   key.at("until").is_null() ? "" : text_at(key, "until"), text_at(key, "reason")});
    }
    return "\n" + table.text();
}

std::string how_else_text(const Json& rule) {
    std::string text = "\non exceed: " + text_at(rule, "action") + "\n";
    if (const auto active = rule.find("active"); active != rule.end()) {
        text += fmt::format("active: {}, {}\n", text_at(*active, "text"), next_text(*active));
    }
    for (const char* part : {"ban", "dynamic"}) {
        if (rule.contains(part)) {
            text += fmt::format("{}: {}\n", part, text_at(rule, part));
        }
    }
    for (const auto& [name, value] : rule.at("settings").items()) {
        text += value.get<std::string>().empty()
                    ? ""
                    : fmt::format("{}: {}\n", name, value.get<std::string>());
    }
    return text;
}

std::vector<RuleAnywhere> anywhere_of(const Json& applied) {
    std::vector<RuleAnywhere> rules;
    const Json beyond = applied.value("beyond", Json::object());
    for (const Json& id : applied.value("anywhere", Json::array())) {
        RuleAnywhere& rule = rules.emplace_back(RuleAnywhere{id.get<std::string>()});
        if (const auto at = beyond.find(rule.id); at != beyond.end()) {
            rule.services = at->at("services").get<std::vector<std::string>>();
            rule.beyond = at->at("fields").get<std::vector<std::string>>();
        }
    }
    return rules;
}

// Rules that clients can go around by connections that cannot be read.
std::string anywhere_text(const Json& applied) {
    const std::vector<RuleAnywhere> rules = anywhere_of(applied);
    std::string text;
    if (const std::string ids = over_none_text(rules); !ids.empty()) {
        text += fmt::format(
            "over no service: {}; what of layer 7 cannot be read goes around them, so declare "
            "services (`sluicectl check --services`)\n",
            ids);
    }
    if (const std::string beyond = beyond_text(rules); !beyond.empty()) {
        text += fmt::format(
            "not over services alone: {}; what of layer 7 cannot be read goes around them there, "
            "so narrow them, or declare services for the rest (`sluicectl check --services`)\n",
            beyond);
    }
    return text;
}

}  // namespace

std::string scope_text(std::string_view of_workers, bool is_of_cluster) {
    return fmt::format("{}{}", is_of_cluster ? "cluster, " : "", of_workers);
}

std::string service_mode_text(const Json& service) {
    const std::string mode = text_at(service, "mode");
    const std::string in_file = text_at(service, "file_mode");
    return mode == in_file ? mode : fmt::format("{} (file: {})", mode, in_file);
}

std::string mode_text_of(const Json& rule) {
    std::string kind = text_at(rule, "kind");
    if (kind != "rule") {
        return kind;
    }
    const std::string mode = text_at(rule, "mode");
    const std::string in_file = text_at(rule, "file_mode");
    const std::string end = rule.at("ends").is_null() ? "" : text_at(rule, "ends");
    if (rule.at("ended").get<bool>()) {
        return "ended " + end;
    }
    return (mode == in_file ? mode : fmt::format("{} (file: {})", mode, in_file)) +
           (end.empty() ? "" : " until " + end);
}

std::string whole_rule_text(const Json& rule) {
    std::string text = fmt::format("{}: {}\n", text_at(rule, "id"), mode_text_of(rule));
    if (const std::string description = text_at(rule, "description"); !description.empty()) {
        text += visible_text(description) + "\n";
    }
    if (!rule.at("first_applied").is_null()) {
        text += "first applied " + text_at(rule, "first_applied") + "\n";
    }
    text += source_lines(rule);
    if (!rule.at("limits").empty()) {
        text += limit_table(rule.at("limits"));
    }
    if (rule.contains("stance")) {
        text += "layer 7 of: " + text_at(rule.at("stance"), "text") + "\n";
    }
    text += how_else_text(rule);
    if (!rule.at("lists").empty()) {
        text += list_table(rule.at("lists"));
    }
    if (rule.contains("keys_set")) {
        text += keys_table(rule.at("keys_set"));
    }
    return text;
}

std::string whole_service_text(const Json& service) {
    std::string text = fmt::format("{}: service of {}, {}\n", text_at(service, "id"),
                                   text_at(service, "protocol"), service_mode_text(service));
    if (const std::string description = text_at(service, "description"); !description.empty()) {
        text += description + "\n";
    }
    const std::string file = service.value("file", "");
    text += fmt::format("from {}line {}\n\nwhen: {}\n", file.empty() ? "" : file + ", ",
                        count_at(service, "line"), text_at(service, "when"));
    for (const auto& [name, value] : service.at("settings").items()) {
        text += fmt::format("{}: {}\n", name, value.get<std::string>());
    }
    return text;
}

std::string source_text(const Json& files) {
    const Json& list = files.at("files");
    if (list.size() == 1) {
        return text_at(list[0], "text");
    }
    std::string text;
    for (const Json& file : list) {
        text += fmt::format("==> {} <==\n{}", text_at(file, "name"), text_at(file, "text"));
        text += text.ends_with('\n') ? "" : "\n";
    }
    return text;
}

std::string applied_text(const Json& applied) {
    return fmt::format("applied {}, generation {}\n", counted(count_at(applied, "rules"), "rule"),
                       text_at(applied, "generation")) +
           anywhere_text(applied) + panic_text(applied) + unconfirmed_text(applied);
}

}  // namespace sluice
