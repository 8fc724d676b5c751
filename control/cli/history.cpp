#include "control/cli/cluster.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/diff_text.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/unconfirmed_text.hpp"
#include "control/visible_text.hpp"
#include "lib/base/system_user.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

// The earlier sets that are kept, and the way back to them.
namespace sluice {
namespace {

// Users have the names that they have here.
std::string user_name(std::uint64_t uid) {
    const std::optional<SystemUser> user = user_of(static_cast<uid_t>(uid));
    return user ? user->name : fmt::format("{}", uid);
}

// The name of a session, for who came by the dashboard, whatever user sluiced knows them as.
std::string author_text(const Json& set) {
    const Json name = set.value("by_name", Json());
    return name.is_string() ? visible_line(name.get<std::string>()) + " (web)"
                            : user_name(count_at(set, "by"));
}

std::vector<std::string> cells_of(std::string number, const Json& set) {
    return {std::move(number),
            text_at(set, "at"),
            author_text(set),
            set.at("rules").is_null() ? "" : grouped(count_at(set, "rules")),
            text_at(set, "generation"),
            text_at(set, "note")};
}

std::string history_text(const Json& history) {
    const Json& in_force = history.at("in_force");
    if (in_force.is_null()) {
        return "no rules were ever applied\n";
    }
    Table table{
        {{"SET", kRight}, {"SINCE"}, {"BY"}, {"ON", kRight}, {"GENERATION"}, {"BROUGHT BY"}}};
    table.row(cells_of("now", in_force));
    for (const Json& set : history.at("sets")) {
        table.row(cells_of(fmt::format("{}", count_at(set, "number")), set));
    }
    return unconfirmed_text(in_force) + table.text();
}

std::string back_text(const Json& now) {
    return fmt::format("back to generation {}, {}\n", text_at(now, "generation"),
                       counted(count_at(now, "rules"), "rule")) +
           unconfirmed_text(now);
}

}  // namespace

ExitCode run_history(const Options& options) {
    return show(options, {.target = "/v1/history"}, history_text);
}

ExitCode run_rollback(const Options& options) {
    if (options.cluster) {
        return roll_cluster_back(options);
    }
    if (!options.confirm.empty() && options.number == 0) {
        return refuse("--confirm goes with the number of a set", ExitCode::Usage);
    }
    std::string query = options.number == 0 ? "" : fmt::format("set={}&", options.number);
    query += options.confirm.empty() ? "" : "confirm=" + url_escape(options.confirm) + "&";
    query += options.detach && !options.dry_run ? "detach=1" : "";
    query.insert(0, query.empty() ? "" : "?");
    DaemonRequest request =
        post_json((options.dry_run ? "/v1/rollback/diff" : "/v1/rollback") + query, {});
    request.timeout = kCompilePatience;
    request.if_match = options.if_match;
    if (options.dry_run) {
        return show(options, request, diff_text);
    }
    return show(options, request, back_text);
}

}  // namespace sluice
