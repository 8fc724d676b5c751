#include "control/cli/early_drop_text.hpp"

#include "control/cli/table.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

// null: it is not known.
Json early_drop_of(const Json& document) {
    return document.value("early_drop", Json());
}

std::string joined(const Json& texts) {
    std::string text;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const char* const before = i == 0 ? "" : i + 1 == texts.size() ? " and " : ", ";
        text += before + visible_line(texts[i].get<std::string>());
    }
    return text;
}

std::string why_text(const Json& entry) {
    const auto by = text_at(entry, "by");
    if (by == "condition") {
        return "by its condition";
    }
    const std::string ban = by == "penalty_box" ? "in its penalty box" : "banned by " + by;
    return ban + (text_at(entry, "applies_to") == "source" ? ", all that the source sends" : "") +
           (entry.at("until").is_null() ? "" : ", until " + text_at(entry, "until"));
}

// "10.0.0.7 at eth0: rule dns, in its penalty box, until …; 70 packets of the rule".
std::string entry_text(const Json& entry) {
    const std::string place =
        fmt::format("  {} at {}: rule {}, ", visible_line(text_at(entry, "network")),
                    joined(entry.at("at")), visible_line(text_at(entry, "rule")));
    if (text_at(entry, "by") == "exempt") {
        return place + "exempt, so left to the box\n";
    }
    return fmt::format("{}{}; {} packets of the rule\n", place, why_text(entry),
                       grouped(count_at(entry, "rule_packets")));
}

// The ports that drop nothing early, or whose program is gone.
std::string elsewhere_text(const Json& early_drop) {
    Json without = Json::array();
    Json detached = Json::array();
    for (const Json& port : early_drop.at("ports")) {
        const std::string name =
            port.at("interface").is_null()
                ? fmt::format("{} {}", text_at(port, "pair"), text_at(port, "side"))
                : text_at(port, "interface");
        if (!port.at("early_drop").get<bool>()) {
            without.push_back(name);
        } else if (!port.at("attached").get<bool>()) {
            detached.push_back(name);
        }
    }
    return (without.empty() ? "" : "  none at " + joined(without) + "\n") +
           (detached.empty() ? "" : "  the program is gone from " + joined(detached) + "\n");
}

}  // namespace

std::int64_t early_drop_entries(const Json& document) {
    const Json early_drop = early_drop_of(document);
    return early_drop.is_null() ? 0 : static_cast<std::int64_t>(early_drop.at("entries").size());
}

std::string early_drop_text(const Json& document) {
    const Json early_drop = early_drop_of(document);
    if (early_drop.is_null()) {
        return "";
    }
    const auto state = text_at(early_drop, "state");
    if (state == "no_port") {
        return "\nno early drop on this box\n";
    }
    if (state == "box_decides" || state == "not_judging") {
        return state == "not_judging"
                   ? "\nearly drop: nothing, since the box judges nothing now\n"
                   : "\nearly drop: nothing, since the box sees more than the kernel (tunnels, or "
                     "malformed packets that pass)\n";
    }
    std::string text = "\nearly drop, by the kernel:\n";
    for (const Json& entry : early_drop.at("entries")) {
        text += entry_text(entry);
    }
    text += early_drop.at("entries").empty() ? "  nothing of it\n" : "";
    text += early_drop.at("more").get<bool>() ? "  there are more, which are not shown\n" : "";
    return text + elsewhere_text(early_drop);
}

}  // namespace sluice
