#include "control/cli/find.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/early_drop_text.hpp"
#include "control/cli/find_text.hpp"
#include "control/cli/terminal.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

bool is_finding(const Json& row) {
    return row.at("what") != "counts";
}

// People look for rules by their ids here too.
bool is_rule(const Options& options, const std::string& id) {
    const auto answer = ask(options, {.target = "/v1/rules"});
    const auto* const running = std::get_if<Json>(&answer);
    const Json rules = running == nullptr ? Json::array() : running->value("rules", Json::array());
    return std::ranges::any_of(rules, [&](const Json& rule) { return rule.value("id", "") == id; });
}

}  // namespace

ExitCode run_find(const Options& options) {
    const auto answer =
        ask_pages(options, {"/v1/find?of=" + url_escape(options.key) + "&", "findings"},
                  options.list_after, options.most);
    const ExitCode exit = show_answer(options, answer, find_text);
    const Json* const document = std::get_if<Json>(&answer);
    if (document == nullptr) {
        return exit;
    }
    if (!document->at("boxes_read").get<bool>()) {
        return refuse(
            "no dataplane is connected: buckets and penalty boxes are not known, and no ban is "
            "carried out by it now",
            ExitCode::Unreached);
    }
    const bool is_whole = options.list_after.empty() && document->at("next").is_null();
    const bool is_known = std::ranges::any_of(document->at("findings"), is_finding) ||
                          early_drop_entries(*document) != 0;
    const bool is_key = document->at("is") == "key";
    if (is_key && is_whole && !is_known && is_rule(options, options.key)) {
        say_error(fmt::format("{} is a rule: `sluicectl stats --rule {}`, `sluicectl rules`",
                              visible_line(options.key), visible_line(options.key)));
    }
    return is_whole && !is_known ? ExitCode::NothingFound : exit;
}

}  // namespace sluice
