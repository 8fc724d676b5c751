#pragma once
#include "control/simulation/run_words.hpp"

#include <map>
#include <string>

namespace sluice {

// The parameters of a limit as the rule language names them: {"rate", "50/s"}. Empty: not given.
using LimitWords = std::map<std::string, std::string>;

// The options of `sluicectl simulate`, as text: those of the limit and the plot beside the load and
// the course.
struct SimulateOptions : RunWords {
    std::string algorithm;
    LimitWords limit;
    std::string per = "packet";
    bool compare = false;
    std::string svg_file;
};

}  // namespace sluice
