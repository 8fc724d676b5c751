#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/simulated_ask.hpp"
#include "control/daemon/api/simulated_json.hpp"
#include "control/simulation/dot_list.hpp"
#include "tests/fuzz/input.hpp"

#include <cstdint>
#include <string_view>
#include <variant>

// The body of POST /v1/simulate. What is understood runs for a while, and no unit of it is lost.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    using test::require;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const ReadJson body = read_json(text);
    if (body.repeated) {
        return 0;
    }
    const ReadAsk read = read_simulated_ask(body.document);
    if (const auto* const problems = std::get_if<SimulationProblems>(&read)) {
        require(!problems->list.empty());
        (void)dump_line(simulation_problems(problems->list));
    }
    const auto* const ask = std::get_if<SimulatedAsk>(&read);
    if (ask == nullptr) {
        return 0;
    }
    int turns = 0;
    const Result<Json> answer = simulated_json(*ask, [&turns] { return ++turns < 20; });
    if (!answer) {
        require(!answer.error().what.empty());
        return 0;
    }
    for (const Json& run : (*answer)["runs"]) {
        const Json& counts = run["counts"];
        const std::uint64_t ended = count_at(counts, "admitted") + count_at(counts, "refused") +
                                    count_at(counts, "waiting");
        require(ended == count_at(counts, "offered"));
        require(count_at(run, "most_in_window") <= count_at(run, "promised"));
        require(run["dots"]["at_ns"].size() <= kMostDots);
    }
    return 0;
}
