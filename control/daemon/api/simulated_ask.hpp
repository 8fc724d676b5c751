#pragma once
#include "control/daemon/http.hpp"
#include "control/json.hpp"
#include "control/simulation/course.hpp"
#include "control/simulation/run_words.hpp"
#include "lib/policy/limits/lone_limits.hpp"

#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostSimulatedLimits = 4;
inline constexpr std::size_t kMostLimitText = 16U << 10;  // bytes
inline constexpr std::size_t kMostSimulatedStalls = 16;
inline constexpr std::uint64_t kMostSimulatedArrivals = 100'000;

// The body of POST /v1/simulate:
//   {"limits":"- {algorithm: …}\n","run":{"load":"constant","offer":"50/s","duration":"10s"}}
// `run` has the words of `sluicectl simulate`, with underscores, and `stalls` for --stall.
struct SimulatedAsk {
    std::vector<LoneLimit> limits;
    std::vector<Problem> warnings;
    RunWords words;
    Course course;  // but for its window, which is the limit's
};

// Problems: the limits, or a word of the run, are not to be understood; 400: the body is not.
struct SimulationProblems {
    std::vector<Problem> list;  // of a word of `run`: without a place
};
using ReadAsk = std::variant<SimulatedAsk, SimulationProblems, HttpResponse>;
[[nodiscard]] ReadAsk read_simulated_ask(const Json& body);

}  // namespace sluice
