#include "control/cli/find.hpp"

#include "control/cli/daemon.hpp"
#include "control/cli/early_drop_text.hpp"
#include "control/cli/find_text.hpp"
#include "control/cli/terminal.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_finding(const Json& row) {
    return row.at("what") != "counts";
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
    return is_whole && !is_known ? ExitCode::NothingFound : exit;
}

}  // namespace sluice
