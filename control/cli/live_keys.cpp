#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/live_keys_text.hpp"
#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

// Lists that sluiced tells page by page.
namespace sluice {
namespace {

constexpr std::uint64_t kLongestPage = 1'000;

// Where the rows of a list are, and how they are shown.
struct PagedList {
    std::string target;  // with `?` and what is asked
    const char* rows;
    std::string (*as_text)(const Json&);
};

// Pages from `--after` on, until there are as many rows as are wanted or no more. What has been
// read stands in one document, as if it were one page.
ExitCode show_pages(const Options& options, const PagedList& list) {
    Json all;
    std::string after = options.list_after;
    std::uint64_t wanted = options.most;
    do {
        auto answer = ask(
            options, {.target = fmt::format("{}&most={}&after={}", list.target,
                                            std::min(wanted, kLongestPage), url_escape(after))});
        if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
            return report(*refusal);
        }
        Json& page = std::get<Json>(answer);
        after = page.at("next").is_null() ? "" : page.at("next").get<std::string>();
        wanted -= std::min<std::uint64_t>(wanted, page.at(list.rows).size());
        if (all.is_null()) {
            all = std::move(page);
        } else {
            for (Json& row : page.at(list.rows)) {
                all.at(list.rows).push_back(std::move(row));
            }
            all["next"] = page.at("next");
        }
    } while (!after.empty() && wanted != 0);
    print(options.json ? dump_line(all) : folded(list.as_text(all)));
    return ExitCode::Done;
}

}  // namespace

ExitCode run_keys(const Options& options) {
    return show_pages(options, {"/v1/keys?rule=" + url_escape(options.rule), "keys", live_text});
}

ExitCode run_bans(const Options& options) {
    return show_pages(options, {"/v1/bans?rule=" + url_escape(options.rule), "bans", bans_text});
}

}  // namespace sluice
