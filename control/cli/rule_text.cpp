#include "control/cli/rule_text.hpp"

#include "control/cli/stats_text.hpp"
#include "control/cli/table.hpp"
#include "control/cli/unconfirmed_text.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice {
namespace {

std::string string_of(const Json& object, const char* member) {
    return object.at(member).get<std::string>();
}

std::string source_lines(const Json& rule) {
    const Json& source = rule.at("source");
    if (source.is_null() && string_of(rule, "kind") != "rule") {
        return "";
    }
    if (source.is_null()) {
        return "its lines cannot be shown: the rules of its file are written in brackets\n";
    }
    const auto text = string_of(source, "text");
    return fmt::format("from {}, lines {} to {}:\n\n{}{}", string_of(source, "file"),
                       source.at("line").get<std::uint64_t>(),
                       source.at("last_line").get<std::uint64_t>(), text,
                       text.ends_with('\n') ? "" : "\n");
}

std::string limit_table(const Json& limits) {
    Table table{{{"LIMIT"}, {"KEY"}, {"IS"}, {"SCOPE"}}};
    for (const Json& limit : limits) {
        table.row({string_of(limit, "name"), string_of(limit, "key"), string_of(limit, "text"),
                   string_of(limit, "scope")});
    }
    std::string text = "\n" + table.text();
    for (const Json& limit : limits) {
        text += fmt::format("limit {} admits at most {}\n", string_of(limit, "name"),
                            string_of(limit, "bound"));
    }
    return text;
}

std::string list_table(const Json& lists) {
    Table table{{{"LIST"}, {"TYPE"}, {"ENTRIES", kRight}, {"FILE"}}};
    for (const Json& list : lists) {
        table.row({string_of(list, "name"), string_of(list, "type"),
                   list.at("known").get<bool>() ? grouped(list.at("entries").get<std::uint64_t>())
                                                : "unknown",
                   string_of(list, "file")});
    }
    return "\n" + table.text();
}

std::string keys_table(const Json& keys) {
    Table table{{{"KEY"}, {"SET"}, {"UNTIL"}, {"REASON"}}};
    for (const Json& key : keys) {
        table.row({string_of(key, "key"), string_of(key, "set"),
                   key.at("until").is_null() ? "" : string_of(key, "until"),
                   string_of(key, "reason")});
    }
    return "\n" + table.text();
}

std::string how_else_text(const Json& rule) {
    std::string text = "\non exceed: " + string_of(rule, "action") + "\n";
    for (const char* part : {"ban", "dynamic"}) {
        if (rule.contains(part)) {
            text += fmt::format("{}: {}\n", part, string_of(rule, part));
        }
    }
    for (const auto& [name, value] : rule.at("settings").items()) {
        text += value.get<std::string>().empty()
                    ? ""
                    : fmt::format("{}: {}\n", name, value.get<std::string>());
    }
    return text;
}

}  // namespace

std::string mode_text_of(const Json& rule) {
    std::string kind = string_of(rule, "kind");
    if (kind != "rule") {
        return kind;
    }
    const std::string mode = string_of(rule, "mode");
    const std::string in_file = string_of(rule, "file_mode");
    const std::string end = rule.at("ends").is_null() ? "" : string_of(rule, "ends");
    if (rule.at("ended").get<bool>()) {
        return "ended " + end;
    }
    return (mode == in_file ? mode : fmt::format("{} (file: {})", mode, in_file)) +
           (end.empty() ? "" : " until " + end);
}

std::string whole_rule_text(const Json& rule) {
    std::string text = fmt::format("{}: {}\n", string_of(rule, "id"), mode_text_of(rule));
    if (const std::string description = string_of(rule, "description"); !description.empty()) {
        text += description + "\n";
    }
    if (!rule.at("first_applied").is_null()) {
        text += "first applied " + string_of(rule, "first_applied") + "\n";
    }
    text += source_lines(rule);
    if (!rule.at("limits").empty()) {
        text += limit_table(rule.at("limits"));
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

std::string source_text(const Json& files) {
    const Json& list = files.at("files");
    if (list.size() == 1) {
        return string_of(list[0], "text");
    }
    std::string text;
    for (const Json& file : list) {
        text += fmt::format("==> {} <==\n{}", string_of(file, "name"), string_of(file, "text"));
        text += text.ends_with('\n') ? "" : "\n";
    }
    return text;
}

std::string applied_text(const Json& applied) {
    return fmt::format("applied {} rules, generation {}\n",
                       applied.at("rules").get<std::uint64_t>(), string_of(applied, "generation")) +
           panic_text(applied) + unconfirmed_text(applied);
}

}  // namespace sluice
