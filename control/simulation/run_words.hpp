#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The load and the course of a simulation, as text: in the options of `sluicectl simulate`, and in
// the body of POST /v1/simulate.
struct RunWords {
    std::string load = "backlog";
    std::string backlog = "10000";
    std::string ask_every = "100us";
    std::string offer = "2000/s";
    std::string size = "1000";
    std::string every = "1s";
    std::string on = "1s";
    std::string off = "1s";
    std::string edge_at = "1s";
    std::string apart = "20ms";
    std::string seed = "1";
    std::string cost = "1";
    std::vector<std::string> hits;  // instants of arrivals, in order of time

    std::vector<std::string> stalls;  // START:LENGTH
    std::string duration;             // empty: as the load needs
    std::string bar = "100ms";
    std::string start;  // the time of day at 0 s, in UTC; empty: 1970-01-01T00:00:00Z
};

// How an error names one of these words: as the option `--ask-every`, or as the member
// `ask_every`. `word` is the option without its dashes.
enum class Spelling { Option, Member };
[[nodiscard]] std::string spelled(std::string_view word, Spelling spelling);

}  // namespace sluice
