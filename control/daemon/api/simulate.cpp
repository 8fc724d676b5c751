#include "control/daemon/api/api.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/simulated_ask.hpp"
#include "control/daemon/api/simulated_json.hpp"
#include "control/daemon/thread_time.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace sluice {
namespace {

constexpr Nanoseconds kMostProcessorTime = std::chrono::milliseconds{50};

HttpResponse not_simulated(const Error& error) {
    switch (error.code) {
        case Errc::TooMany:
        case Errc::Busy:
            return problem_response(413, "too much to simulate", error.what);
        default:
            return json_response(
                Json{{"ok", false},
                     {"problems", simulation_problems({{"run", {}, Severity::Error, error.what}})},
                     {"runs", Json::array()}});
    }
}

}  // namespace

// Limits under a load on a virtual clock, by the meters that enforce; nothing of the box is read,
// and nothing changes.
HttpResponse post_simulate(const HttpRequest& request, Services& services) {
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const bool is_of_tenant = request.role == Role::Tenant;
    const ExplainTurns::Turn turn =
        (is_of_tenant ? services.tenant_simulation_turns : services.simulation_turns).take();
    if (!turn) {
        return busy_response(503, "busy", "others are simulating; try again");
    }
    const Nanoseconds end = processor_time() + kMostProcessorTime;
    ReadAsk read = read_simulated_ask(std::get<Json>(parsed));
    if (auto* const refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    if (const auto* const problems = std::get_if<SimulationProblems>(&read)) {
        return json_response(Json{{"ok", false},
                                  {"problems", simulation_problems(problems->list)},
                                  {"runs", Json::array()}});
    }
    const Result<Json> answer =
        simulated_json(std::get<SimulatedAsk>(read), [end] { return processor_time() < end; });
    return answer ? json_response(*answer) : not_simulated(answer.error());
}

}  // namespace sluice
