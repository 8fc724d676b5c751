#include "control/cli/diff_text.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// Conditions may have several lines.
std::string on_one_line(std::string text) {
    std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return text.empty() ? "(none)" : text;
}

std::string because_of(const Json& limit) {
    std::string names;
    for (const Json& name : limit.at("because")) {
        names += (names.empty() ? "`" : ", `") + name.get<std::string>() + "`";
    }
    return names;
}

// Keys that the new numbers would keep out for a while.
std::string owing_text(const Json& limit) {
    if (!limit.contains("owing") || limit.at("owing").is_null()) {
        return "";
    }
    const Json& owing = limit.at("owing");
    const std::uint64_t keys = count_at(owing, "keys");
    if (keys == 0) {
        return "";
    }
    const std::string least = owing.at("whole").get<bool>() ? "" : "at least ";
    return bold(fmt::format("      {}{} owe{} more than that allows: not admitted for up to {}",
                            least, counted(keys, "key"), keys == 1 ? "s" : "",
                            time_text(std::llround(owing.at("seconds").get<double>() * 1e9)))) +
           "\n      `apply --forgive` lets each owe no more than a whole burst or count\n";
}

std::string limit_text(const Json& limit) {
    const std::string change = text_at(limit, "change");
    const std::string head = "    limit " + text_at(limit, "name") + ": ";
    if (change == "added") {
        return head + "added, " + text_at(limit, "to") + "\n";
    }
    if (change == "removed") {
        return head + "removed, " + text_at(limit, "from") + "\n";
    }
    const std::string from_to = text_at(limit, "from") + " -> " + text_at(limit, "to");
    if (change == "reset") {
        return head + from_to + "\n" +
               bold(fmt::format("      RESET: its buckets start anew, because of another {}",
                                because_of(limit))) +
               "\n";
    }
    return head + from_to + "\n      what was used carries over\n" + owing_text(limit);
}

std::string changed_setting_text(const Json& setting) {
    return fmt::format("    {}: {} -> {}\n", text_at(setting, "what"),
                       on_one_line(text_at(setting, "from")), on_one_line(text_at(setting, "to")));
}

std::string rule_text(const Json& rule) {
    std::string text = "~ " + text_at(rule, "id") + "\n";
    for (const Json& setting : rule.at("settings")) {
        text += changed_setting_text(setting);
    }
    for (const Json& limit : rule.at("limits")) {
        text += limit_text(limit);
    }
    return text;
}

bool differ(const Json& services) {
    return !services.at("added").empty() || !services.at("removed").empty() ||
           !services.at("changed").empty() || services.at("reordered").get<bool>();
}

std::string services_diff_text(const Json& services) {
    std::string text;
    for (const Json& id : services.at("removed")) {
        text += "- service " + id.get<std::string>() + "\n";
    }
    for (const Json& id : services.at("added")) {
        text += "+ service " + id.get<std::string>() + "\n";
    }
    for (const Json& service : services.at("changed")) {
        text += "~ service " + text_at(service, "id") + "\n";
        for (const Json& setting : service.at("settings")) {
            text += changed_setting_text(setting);
        }
    }
    return services.at("reordered").get<bool>()
               ? text + "the services come in another order, and the first that matches decides\n"
               : text;
}

bool has_any(const Json& services) {
    return differ(services) || count_at(services, "unchanged") != 0;
}

std::string counts_text(const Json& diff, std::string_view noun) {
    return fmt::format("{} added, {} removed, {} changed, {} as they are\n",
                       counted(diff.at("added").size(), noun), diff.at("removed").size(),
                       diff.at("changed").size(), count_at(diff, "unchanged"));
}

}  // namespace

bool differs(const Json& diff) {
    return (diff.contains("services") && differ(diff.at("services"))) ||
           diff.at("from") != diff.at("to") || !diff.at("added").empty() ||
           !diff.at("removed").empty() || !diff.at("changed").empty() ||
           diff.at("reordered").get<bool>();
}

std::string diff_text(const Json& diff) {
    std::string text;
    for (const Json& id : diff.at("removed")) {
        text += "- " + id.get<std::string>() + "\n";
    }
    for (const Json& id : diff.at("added")) {
        text += "+ " + id.get<std::string>() + "\n";
    }
    for (const Json& rule : diff.at("changed")) {
        text += rule_text(rule);
    }
    if (!diff.value("owing_known", true)) {
        text +=
            "the dataplane could not be asked: how many keys owe more than their new numbers allow "
            "is not known\n";
    }
    if (diff.at("reordered").get<bool>()) {
        text += "the rules come in another order\n";
    }
    text += diff.contains("services") ? services_diff_text(diff.at("services")) : "";
    if (text.empty() && diff.at("from") != diff.at("to")) {
        text += "lists, databases, overrides or settings of all rules are others\n";
    }
    text += text.empty() ? "" : "\n";
    text += counts_text(diff, "rule");
    const bool has_services = diff.contains("services") && has_any(diff.at("services"));
    return has_services ? text + counts_text(diff.at("services"), "service") : text;
}

}  // namespace sluice
