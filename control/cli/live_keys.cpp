#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"
#include "control/cli/live_keys_text.hpp"
#include "control/cli/terminal.hpp"

#include <functional>

namespace sluice {
namespace {

ExitCode show_pages(const Options& options, const PagedList& list,
                    const std::function<std::string(const Json&)>& as_text) {
    return show_answer(options, ask_pages(options, list, options.list_after, options.most),
                       as_text);
}

}  // namespace

ExitCode run_keys(const Options& options) {
    return show_pages(
        options, {"/v1/keys?rule=" + url_escape(options.rule) + "&", "keys"},
        [&](const Json& document) { return live_text(document, options.list_after.empty()); });
}

ExitCode run_bans(const Options& options) {
    const auto answer =
        ask_pages(options, {"/v1/bans?rule=" + url_escape(options.rule) + "&", "bans"},
                  options.list_after, options.most);
    const ExitCode exit = show_answer(options, answer, bans_text);
    const Json* const document = std::get_if<Json>(&answer);
    if (document == nullptr || document->value("boxes_read", true)) {
        return exit;
    }
    return refuse(
        "no dataplane is connected, so no ban is carried out by it now; these are known to "
        "sluiced, and the penalty boxes' are not known",
        ExitCode::Unreached);
}

}  // namespace sluice
