#include "control/cli/key_text.hpp"

#include "control/cli/alone_text.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

std::string seconds_left_text(std::int64_t ns) {
    return ns == 0 ? "0" : left_text(static_cast<double>(ns) / 1e9);
}

// Short waits to their tenth, longer ones as the times beside them.
std::string wait_text(const Json& wait) {
    if (wait.is_null()) {
        return "never";
    }
    const auto ns = wait.get<std::int64_t>();
    if (ns == 0) {
        return "0";
    }
    if (ns < 1'000'000) {
        return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
    }
    if (ns < 1'000'000'000) {
        return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
    }
    return ns < 60'000'000'000 ? fmt::format("{:.1f} s", static_cast<double>(ns) / 1e9)
                               : seconds_left_text(ns);
}

// "10.0.0.0/8, line 2 of the override file": the row of a network or range.
std::string override_row_text(const Json& row) {
    return fmt::format("{}, line {} of the {}", text_at(row, "key"), count_at(row, "line"),
                       text_at(row, "source"));
}

// The source of what is left.
std::string bucket_text(const Json& worker) {
    const std::string numbers = !worker.at("overridden").get<bool>() ? ""
                                : worker.contains("row")
                                    ? ", the numbers of " + override_row_text(worker.at("row"))
                                    : ", other numbers for this key";
    if (worker.at("bucket").get<bool>()) {
        return "its own" + numbers;
    }
    if (worker.value("carried", false)) {
        return "carried over, taken up with its next packet" + numbers;
    }
    const auto step = worker.at("step").get<unsigned>();
    const auto given = count_at(worker, "given_wider");
    return (step == 0 ? "none yet" : fmt::format("none, a wider one owes (step {})", step)) +
           (given == 0 ? "" : fmt::format(", {} given back to it", grouped(given))) + numbers;
}

bool has_something(const Json& worker) {
    return worker.at("bucket").get<bool>() || worker.value("carried", false) ||
           worker.at("step").get<unsigned>() != 0 || count_at(worker, "given_wider") != 0 ||
           worker.at("before") != worker.at("remaining");
}

// The cells of one bucket behind those that name its limit.
std::vector<std::string> bucket_cells(const Json& bucket, bool changed) {
    std::vector<std::string> cells;
    if (changed) {
        cells.push_back(grouped(count_at(bucket, "before")));
    }
    cells.push_back(grouped(count_at(bucket, "remaining")));
    cells.push_back(grouped(count_at(bucket, "most")));
    cells.push_back(wait_text(bucket.at("wait_ns")));
    cells.push_back(seconds_left_text(bucket.value("fresh_ns", std::int64_t{0})));
    cells.push_back(bucket_text(bucket));
    return cells;
}

void add_row(const Json& limit, bool named, std::string lcore, std::vector<std::string> bucket,
             Table& table) {
    std::vector<std::string> cells{named ? text_at(limit, "name") : "",
                                   named ? text_at(limit, "text") : "", std::move(lcore)};
    for (std::string& cell : bucket) {
        cells.push_back(std::move(cell));
    }
    table.row(std::move(cells));
}

// A row for each worker that has something to say of the key, or one that all share.
void add_rows(const Json& limit, bool changed, Table& table) {
    const Json& workers = limit.at("workers");
    if (limit.contains("shared") && workers.size() > 1) {
        add_row(limit, true, "shared", bucket_cells(limit.at("shared"), changed), table);
        return;
    }
    bool shown = false;
    for (const Json& worker : workers) {
        // A key that no worker knows has one line.
        const bool last = &worker == &workers.back();
        if (!has_something(worker) && (shown || !last)) {
            continue;
        }
        add_row(limit, !shown, has_something(worker) ? grouped(count_at(worker, "lcore")) : "all",
                bucket_cells(worker, changed), table);
        shown = true;
    }
}

// "set: 1: rate 5/s until 2026-…Z, because …"
std::string settings_text(const Json& list) {
    std::string text;
    for (const Json& one : list) {
        text += "set: " + text_at(one, "set");
        text += one.at("until").is_null() ? "" : " until " + text_at(one, "until");
        const auto reason = visible_line(text_at(one, "reason"));
        text += (reason.empty() ? "" : ", because: " + reason) + "\n";
    }
    return text;
}

// "banned by policy until 2026-…Z, because: …": a file says so of the key itself.
std::string file_ban_text(const Json& document) {
    if (!document.contains("file_ban")) {
        return "";
    }
    const Json& ban = document.at("file_ban");
    const auto reason = visible_line(text_at(ban, "reason"));
    return fmt::format("banned by {}{}{}\n", visible_line(text_at(ban, "source")),
                       ban.at("until").is_null() ? "" : " until " + text_at(ban, "until"),
                       reason.empty() ? "" : ", because: " + reason);
}

std::string end_and_reason(const Json& row) {
    const auto reason = visible_line(text_at(row, "reason"));
    const Json until = row.value("until", Json());
    return fmt::format("{}{}", until.is_null() ? "" : " until " + until.get<std::string>(),
                       reason.empty() ? "" : ", because: " + reason);
}

// "exempt by line 4 of the override file until 2031-…Z, because: …": the key's own rows.
std::string own_rows_text(const Json& document) {
    std::string text;
    for (const Json& row : document.value("rows", Json::array())) {
        const std::string says = row.at("limit").is_null()
                                     ? "exempt"
                                     : "numbers of " + visible_line(text_at(row, "limit"));
        text += fmt::format("{} by line {} of the {}{}\n", says, count_at(row, "line"),
                            text_at(row, "source"), end_and_reason(row));
    }
    return text;
}

// Networks and ranges that its numbers come from, where they say why or until when.
std::string number_rows_text(const Json& document) {
    std::string text;
    for (const Json& limit : document.at("limits")) {
        for (const Json& worker : limit.at("workers")) {
            const std::string more =
                worker.contains("row") ? end_and_reason(worker.at("row")) : std::string{};
            const std::string line =
                more.empty() ? ""
                             : "numbers by " + override_row_text(worker.at("row")) + more + "\n";
            text += text.find(line) == std::string::npos ? line : "";
        }
    }
    return text;
}

// "exempt by 10.0.0.0/8, line 2 of the override file, because: …".
std::string exempt_by_text(const Json& document) {
    if (!document.contains("exempt_by")) {
        return "";
    }
    const Json& row = document.at("exempt_by");
    return fmt::format("exempt by {}{}\n", override_row_text(row), end_and_reason(row));
}

// True if a file bans the key, or a network that it lies in is banned, and nothing exempts it.
bool is_banned_otherwise(const Json& document) {
    return document.contains("file_ban") ||
           (document.contains("networks") && !document.value("exempt", false));
}

// The warning that a ban is one of all addresses.
std::string everybody_text(const Json& document) {
    return document.contains("warning")
               ? "warning: " + visible_line(text_at(document, "warning")) + "\n"
               : "";
}

// Networks that the key lies in and that are banned.
std::string networks_text(const Json& document) {
    std::string text;
    for (const Json& one : document.value("networks", Json::array())) {
        const auto reason = visible_line(text_at(one, "reason"));
        text += fmt::format("within {}, banned by {}{}{}\n", visible_line(text_at(one, "key")),
                            visible_line(text_at(one, "source")),
                            one.at("until").is_null() ? "" : " until " + text_at(one, "until"),
                            reason.empty() ? "" : ", because: " + reason);
    }
    return text;
}

// How bans that operators have not set for the key itself end, and what lets it through. A rule
// under `dynamic` says so itself when a key is to be exempt.
std::string way_out_text(const Json& document) {
    if (!is_banned_otherwise(document)) {
        return "";
    }
    std::string ends;
    const auto add = [&ends](const Json& ban) {
        ends += (ends.empty() ? "" : " and ") + visible_line(text_at(ban, "ends_with"));
    };
    if (document.contains("file_ban")) {
        add(document.at("file_ban"));
    }
    if (!document.value("exempt", false)) {
        for (const Json& one : document.value("networks", Json::array())) {
            add(one);
        }
    }
    const std::string alone =
        document.value("is_network", false)
            ? ""
            : fmt::format("; `key set {} {} --exempt` lets this key alone through",
                          text_at(document, "rule"), visible_line(text_at(document, "key")));
    return fmt::format("what ends that: {}{}\n", ends, alone);
}

// The key under the rule's ban: "ban on lcore 1: for another 59s\n".
std::string ban_text(const Json& document) {
    if (!document.contains("ban")) {
        return "";
    }
    const Json& ban = document.at("ban");
    std::string text;
    for (const Json& worker : ban.at("workers")) {
        const auto lcore = count_at(worker, "lcore");
        if (worker.at("left_ns").get<std::int64_t>() != 0) {
            const auto step = worker.at("step").get<unsigned>();
            text += fmt::format(
                "ban on lcore {}: {} {}{}\n", lcore,
                worker.at("lifted").get<bool>() ? "lifted; it would have lasted" : "for another",
                seconds_left_text(worker.at("left_ns").get<std::int64_t>()),
                step == 0 ? "" : fmt::format(", of a wider key (step {})", step));
        } else if (count_at(worker, "refusals") != 0) {
            text +=
                fmt::format("ban on lcore {}: {} of {} refusals\n", lcore,
                            grouped(count_at(worker, "refusals")), grouped(count_at(ban, "after")));
        }
    }
    return text;
}

// The workers that have let the key out of their penalty boxes, if any may have.
std::string lifted_text(const Json& document) {
    const std::uint64_t lifted = document.value("lifted", std::uint64_t{0});
    const std::uint64_t unanswered = document.value("unanswered_workers", std::uint64_t{0});
    if (lifted == 0 && unanswered == 0) {
        return "";
    }
    const std::string silent = unanswered == 0 ? ""
                               : unanswered == 1
                                   ? "; one has not answered"
                                   : fmt::format("; {} have not answered", unanswered);
    return fmt::format("ban lifted on {}{}\n", counted(lifted, "worker"), silent);
}

// The note on a ban of a rule that does not enforce.
std::string idle_mode_text(const Json& document, bool banned) {
    if (!banned) {
        return "";
    }
    if (document.value("mode", "enforce") == "monitor") {
        return "the rule is in monitor: nothing is dropped for its bans\n";
    }
    return document.contains("inactive")
               ? fmt::format("the rule is active {}: nothing is dropped for its bans\n",
                             text_at(document, "inactive"))
               : "";
}

// The packets that are dropped for its ban, if not those alone that the rule matches.
std::string banned_scope_text(const Json& document) {
    return document.value("applies_to", "key") == "source" ? ", with all that it sends" : "";
}

bool is_set(const Json& set, std::string_view what) {
    return std::any_of(set.begin(), set.end(),
                       [what](const Json& one) { return text_at(one, "set") == what; });
}

// A ban that an operator has set for the key itself goes before all else.
std::string banned_all_the_same_text(const Json& document) {
    const Json& set = document.at("set");
    const bool exempt = is_set(set, "exempt") || document.value("exempt", false);
    return is_set(set, "banned") && exempt
               ? fmt::format("it is banned all the same: `key unban {} {}` ends that\n",
                             text_at(document, "rule"), visible_line(text_at(document, "key")))
               : "";
}

// The rule groups by networks, and a single address was named.
std::string wider_text(const Json& document) {
    return document.contains("asked")
               ? fmt::format("{} stands for its whole key: this is set for all of {}\n",
                             visible_line(text_at(document, "asked")),
                             visible_line(text_at(document, "key")))
               : "";
}

// Settings of another kind, which the one that was made has ended.
std::string ended_text(const Json& document) {
    std::string text;
    for (const Json& one : document.value("ended", Json::array())) {
        text += "ended: " + text_at(one, "set") + "\n";
    }
    return text;
}

std::string head(const Json& document) {
    return fmt::format("rule {}, key {}", text_at(document, "rule"),
                       visible_line(text_at(document, "key")));
}

}  // namespace

std::string key_text(const Json& document) {
    const bool changed = document.at("action") != "show";
    std::vector<Table::Column> columns{{"LIMIT"}, {"NUMBERS"}, {"LCORE", kRight}};
    if (changed) {
        columns.push_back({"BEFORE", kRight});
    }
    for (const Table::Column& column : {Table::Column{"LEFT", kRight},
                                        {"OF", kRight},
                                        {"WAIT", kRight},
                                        {"FRESH IN", kRight},
                                        {"BUCKET"}}) {
        columns.push_back(column);
    }
    Table table{std::move(columns)};
    for (const Json& limit : document.at("limits")) {
        add_rows(limit, changed, table);
    }
    const std::string fate = document.at("banned").get<bool>()
                                 ? ": banned" + banned_scope_text(document)
                             : document.at("exempt").get<bool>() ? ": exempt"
                                                                 : "";
    // Without a dataplane nothing is carried out, and what is set is all that is known.
    const std::string set_alone =
        fate.empty() && is_set(document.at("set"), "banned") ? ": set to be banned" : "";
    std::string text = fmt::format(
        "{}{}\n{}\n{}", head(document), fate + set_alone,
        settings_text(document.at("set")) + banned_all_the_same_text(document) +
            own_rows_text(document) + exempt_by_text(document) + number_rows_text(document) +
            file_ban_text(document) + networks_text(document) + way_out_text(document) +
            ban_text(document) + idle_mode_text(document, document.at("banned").get<bool>()),
        table.text());
    for (const Json& worker : document.at("unanswered")) {
        text +=
            fmt::format("\nthe worker on lcore {} has not answered{}", count_at(worker, "lcore"),
                        worker.at("begun").get<bool>() ? ", and may have done it" : "");
    }
    return text + (document.at("unanswered").empty() ? "" : "\n");
}

std::string setting_text(const Json& document) {
    const Json& set = document.at("set");
    const bool banned = is_banned_otherwise(document);
    const bool exempt = document.value("exempt", false) && set.empty();
    const std::string fate = banned ? ": banned" : exempt ? ": exempt" : "";
    const std::string nothing = banned   ? "nothing is set\n"
                                : exempt ? "nothing is set; an override exempts it\n"
                                         : "nothing is set; the rule's numbers count\n";
    return fmt::format("{}{}\n{}{}{}{}{}{}{}{}{}{}{}", head(document), fate, wider_text(document),
                       lifted_text(document), file_ban_text(document), networks_text(document),
                       way_out_text(document), everybody_text(document),
                       set.empty() ? nothing : settings_text(set),
                       banned_all_the_same_text(document), ended_text(document),
                       idle_mode_text(document, banned || is_set(set, "banned")),
                       alone_text(document) + cluster_change_text(document));
}

std::string key_list_text(const Json& document) {
    Table table{{{"KEY"}, {"TIER", kRight}, {"SET"}, {"UNTIL"}, {"REASON"}}};
    for (const Json& one : document.at("keys")) {
        table.row({text_at(one, "key"), grouped(count_at(one, "tier")), text_at(one, "set"),
                   one.at("until").is_null() ? "for good" : text_at(one, "until"),
                   text_at(one, "reason")});
    }
    const Json& dynamic = document.at("dynamic");
    return fmt::format("rule {}{}\n{}", text_at(document, "rule"),
                       dynamic.is_null() ? "" : ", dynamic: " + dynamic.get<std::string>(),
                       table.text());
}

}  // namespace sluice
