#include "control/cli/find_text.hpp"

#include "control/cli/early_drop_text.hpp"
#include "control/cli/key_text.hpp"
#include "control/cli/more_text.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

std::string visible(const Json& row, const char* member) {
    return visible_line(text_at(row, member));
}

// "rule dns", "rule dns (monitor)", "bypass.1".
std::string rule_text(const Json& row) {
    const auto mode = text_at(row, "mode");
    return fmt::format("{}{}{}", text_at(row, "kind") == "bypass" ? "" : "rule ",
                       visible(row, "rule"), mode == "enforce" ? "" : " (" + mode + ")");
}

// ", in $bad by 10.0.0.0/8 (line 3) and 1 more"; nothing where no list names it.
std::string listed_text(const Json& row) {
    if (row.at("list").is_null()) {
        return "";
    }
    const auto others = count_at(row, "others");
    return fmt::format(", in ${} by {} (line {}){}", visible(row, "list"), visible(row, "entry"),
                       count_at(row, "line"),
                       others == 0 ? "" : fmt::format(" and {} more", others));
}

// "rule deny: ip.src in $bad, by 10.0.0.0/8 (line 3) and 1 more; drop".
std::string condition_text(const Json& row) {
    return fmt::format("{}: its condition {} it as {}{}: {}\n", rule_text(row),
                       row.at("except").get<bool>() ? "excepts" : "names", visible(row, "field"),
                       listed_text(row), visible(row, "action"));
}

std::string ban_text(const Json& row) {
    const auto reason = visible(row, "reason");
    return fmt::format("{}: {} is banned by {}{}{}\n", rule_text(row), visible(row, "key"),
                       text_at(row, "source"),
                       row.at("until").is_null() ? "" : " until " + text_at(row, "until"),
                       reason.empty() ? "" : ", because: " + reason);
}

// "rule src: 172.16.0.0/12 has other numbers by line 6 of the override file, because: …".
std::string override_text(const Json& row) {
    const auto reason = visible(row, "reason");
    return fmt::format("{}: {} {} by line {} of the {}{}{}\n", rule_text(row), visible(row, "key"),
                       text_at(row, "says") == "exempt" ? "is exempt" : "has other numbers",
                       count_at(row, "line"), text_at(row, "source"),
                       row.at("until").is_null() ? "" : " until " + text_at(row, "until"),
                       reason.empty() ? "" : ", because: " + reason);
}

// Rules that would count it, or whose keys may have it beside what nobody names.
std::string counts_text(const Json& row) {
    return row.at("key").is_null()
               ? fmt::format("{}: counts by {}; keys of it that have no name are not found\n",
                             rule_text(row), visible(row, "form"))
               : fmt::format("{}: would count it as {}, of which nothing is known yet\n",
                             rule_text(row), visible(row, "key"));
}

std::string row_text(const Json& row) {
    const auto what = text_at(row, "what");
    if (what == "condition") {
        return condition_text(row);
    }
    if (what == "override") {
        return override_text(row);
    }
    return what == "ban" ? ban_text(row) : what == "counts" ? counts_text(row) : key_text(row);
}

std::string head_of(const Json& document) {
    const Json& findings = document.at("findings");
    const auto found =
        std::ranges::count_if(findings,
                              [](const Json& row) { return text_at(row, "what") != "counts"; }) +
        early_drop_entries(document);
    const std::string further =
        document.value("next", Json()).is_null() ? "" : " up to here, and more behind them";
    const std::string inside =
        document.at("inside").is_null()
            ? ""
            : fmt::format("packets of IPv4 have the address inside it: sluicectl find {}\n",
                          text_at(document, "inside"));
    return fmt::format("{} {}: {}\n{}", text_at(document, "is"), visible(document, "of"),
                       found == 0   ? "nothing is known of it"
                       : found == 1 ? "1 finding" + further
                                    : fmt::format("{} findings", found) + further,
                       inside);
}

// "service shop: its condition names it as ip.dst".
std::string services_text(const Json& document) {
    std::string text;
    for (const Json& row : document.value("services", Json::array())) {
        const auto mode = text_at(row, "mode");
        text +=
            fmt::format("{}service {}{}: its condition {} it as {}{}\n", text.empty() ? "\n" : "",
                        visible(row, "service"), mode == "enforce" ? "" : " (" + mode + ")",
                        row.at("except").get<bool>() ? "excepts" : "names", visible(row, "field"),
                        listed_text(row));
    }
    return text;
}

// "blocked (as ip.dst)", of rules that meet an address on one side alone.
std::string everybody_text(const Json& document) {
    const Json sides = document.value("everybody_as", Json::object());
    std::string rules;
    for (const Json& one : document.value("everybody", Json::array())) {
        const auto rule = one.get<std::string>();
        rules += (rules.empty() ? "" : ", ") + visible_line(rule);
        rules += sides.contains(rule) ? " (as " + visible(sides, rule.c_str()) + ")" : "";
    }
    return rules.empty() ? "" : "\nrules that may meet it as they meet everybody: " + rules + "\n";
}

std::string unread_text(const Json& document) {
    std::string rules;
    for (const Json& rule : document.value("unread", Json::array())) {
        rules += (rules.empty() ? "" : ", ") + visible_line(rule.get<std::string>());
    }
    return rules.empty()
               ? ""
               : "\nrules whose conditions read lists, of which it may be: " + rules + "\n";
}

std::string left_out_text(const Json& document) {
    return fmt::format(
        "{}{}",
        document.value("lists_read", true) ? ""
                                           : "\nwhat lists name is told to root and to who applied "
                                             "the rules alone, and left out\n",
        document.value("cut", false)
            ? "\nnot all of it is here: there are more keys, or lists, than are looked into; "
              "a narrower network, or a single key, is found all the same\n"
            : "");
}

}  // namespace

// Keys have tables, and a line around each.
std::string find_text(const Json& document) {
    std::string text = head_of(document);
    bool was_key = true;
    for (const Json& row : document.at("findings")) {
        const bool is_key = text_at(row, "what") == "key";
        text += (is_key || was_key ? "\n" : "") + row_text(row);
        was_key = is_key;
    }
    text += early_drop_text(document);
    text += services_text(document) + everybody_text(document) + unread_text(document);
    return text + left_out_text(document) + more_text(document);
}

}  // namespace sluice
