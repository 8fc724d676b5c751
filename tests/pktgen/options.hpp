#pragma once
#include "tests/pktgen/quantity_text.hpp"
#include "tests/pktgen/traffic.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sluice::pktgen {

enum class Mode : std::uint8_t { Run, Search };

// The command line, checked.
struct Options {
    std::string transmit;
    std::string receive;  // may be the same
    TrafficPlan traffic;
    Mode mode = Mode::Run;
    Rate rate;
    std::optional<double> duration;  // in seconds
    std::optional<std::uint64_t> count;
    double trial = 2;      // seconds of a trial of the search
    double tolerance = 1;  // percent
    double loss = 0;       // percent
    unsigned repeats = 0;
    bool is_throughput_alone = false;
    bool is_bidirectional = false;
    std::uint16_t queues = 1;     // of each port, each way
    std::uint64_t warm_up = 0;    // frames before what is counted
    std::uint64_t backlog = 256;  // frames
    bool drops_refused = false;   // what the port does not take is lost, and not offered again
    double linger = 0.1;          // seconds of silence after which nothing more is awaited
    double settle = 0.5;          // seconds between links and the first frame
    double wait = 10;             // seconds for the links
    int cpu = -1;                 // -1: the first that the process may use
    bool is_json = false;
    std::vector<std::string> eal;  // what stands behind `--`
};

// What is printed instead of a run, and what the program then ends with.
struct Printed {
    std::string text;
    int exit = 0;
};

inline constexpr int kBadUsage = 2;
inline constexpr std::uint16_t kMostQueues = 16;

[[nodiscard]] std::variant<Options, Printed> read_options(int argc, const char* const* argv);

}  // namespace sluice::pktgen
