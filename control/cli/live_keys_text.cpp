#include "control/cli/live_keys_text.hpp"

#include "control/cli/human_units.hpp"
#include "control/cli/more_text.hpp"
#include "control/cli/table.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace sluice {
namespace {

// The name of a key, or that only its digest is known.
std::string key_cell(const Json& row) {
    if (row.at("key").is_string()) {
        const auto key = text_at(row, "key");
        return key.empty() ? "(all)" : key;
    }
    const auto level = row.value("level", 0U);
    return fmt::format("{}{}", level == 0 ? "#" : "wider #", text_at(row, "digest"));
}

std::string left_cell(const Json& left) {
    return left.is_null() ? "for good" : left_text(left.get<double>());
}

// The worker that has it.
std::string lcore_cell(const Json& row) {
    if (row.value("carried", false)) {
        return "carried over";
    }
    return row.at("shared").get<bool>() ? "shared" : grouped(count_at(row, "lcore"));
}

// By whom; empty: nobody.
std::string banned_cell(const Json& row) {
    const auto banned = row.find("banned");
    if (banned == row.end() || banned->is_null()) {
        return "";
    }
    const auto who = banned->get<std::string>();
    return who == "penalty_box" ? "penalty box" : who;
}

// The number of buckets that are listed, and of how many where these are not all: the tables know
// about how many entries they have, some of which may have become fresh since.
std::string head_of(const Json& document, bool from_first) {
    const std::size_t listed = document.at("keys").size();
    const bool all = from_first && document.at("next").is_null();
    return fmt::format(
        "rule {}: {} live bucket{}{}\n\n", text_at(document, "rule"), grouped(listed),
        listed == 1 ? "" : "s",
        all ? ""
            : fmt::format(" here, of about {} in all tables", grouped(count_at(document, "live"))));
}

std::string count_cell(const Json& count) {
    return count.is_null() ? "" : grouped(count.get<std::uint64_t>());
}

// Rules whose bans drop nothing, a line each: "dns is in monitor: nothing is dropped for its bans".
std::string idle_text(const Json& bans) {
    std::map<std::string, std::string> reasons;
    for (const Json& row : bans) {
        const auto mode = row.value("mode", "enforce");
        const Json inactive = row.value("inactive", Json());
        if (mode != "enforce") {
            reasons.emplace(text_at(row, "rule"), (mode == "monitor" ? "in " : "") + mode);
        } else if (inactive.is_string()) {
            reasons.emplace(text_at(row, "rule"), "active " + inactive.get<std::string>());
        }
    }
    std::string text;
    for (const auto& [rule, reason] : reasons) {
        text += fmt::format("{} is {}: nothing is dropped for its bans\n", rule, reason);
    }
    return text;
}

// Rules whose bans hold for more than their own packets, a line each.
std::string wide_bans_text(const Json& bans) {
    std::set<std::string> rules;
    for (const Json& row : bans) {
        if (row.value("applies_to", "key") == "source") {
            rules.insert(text_at(row, "rule"));
        }
    }
    std::string text;
    for (const std::string& rule : rules) {
        text += fmt::format("bans of {} hold for all that their keys send\n", rule);
    }
    return text;
}

}  // namespace

std::string live_text(const Json& document, bool from_first) {
    Table table{{{"KEY"},
                 {"LIMIT"},
                 {"LEFT", kRight},
                 {"OF", kRight},
                 {"FRESH IN", kRight},
                 {"LCORE", kRight},
                 {"BANNED"}}};
    for (const Json& row : document.at("keys")) {
        const bool own = row.at("most").is_null();
        table.row({key_cell(row), text_at(row, "limit"),
                   own ? "its own numbers" : count_cell(row.at("remaining")),
                   count_cell(row.at("most")), left_cell(row.at("left_s")), lcore_cell(row),
                   banned_cell(row)});
    }
    return head_of(document, from_first) + table.text() + more_text(document);
}

std::string bans_text(const Json& document) {
    if (document.at("bans").empty() && document.at("next").is_null()) {
        return document.value("boxes_read", true) ? "nobody is banned\n" : "";
    }
    Table table{{{"RULE"}, {"KEY"}, {"SOURCE"}, {"LEFT", kRight}, {"REASON"}}, 2};
    for (const Json& row : document.at("bans")) {
        table.row({text_at(row, "rule"), key_cell(row), text_at(row, "source"),
                   left_cell(row.at("left_s")), text_at(row, "reason")});
    }
    const Json& bans = document.at("bans");
    return table.text() + wide_bans_text(bans) + idle_text(bans) + more_text(document);
}

}  // namespace sluice
