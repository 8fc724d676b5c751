#include "control/cli/commands.hpp"
#include "control/cli/daemon.hpp"

#include <fmt/format.h>

#include <chrono>

namespace sluice {
namespace {

// A call to a webhook and the one before it may take ten seconds each.
constexpr std::chrono::seconds kTestPatience{30};

}  // namespace

ExitCode run_notify(const Options& options) {
    DaemonRequest request =
        post_json(fmt::format("/v1/notify/{}/test", url_escape(options.webhook)), nullptr);
    request.timeout = kTestPatience;
    return show(options, request, [](const Json& answer) {
        return fmt::format("the webhook {} took the notice: it answered {}\n",
                           text_at(answer, "webhook"), count_at(answer, "status"));
    });
}

}  // namespace sluice
