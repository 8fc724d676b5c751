#pragma once
#include <map>
#include <string>
#include <vector>

namespace sluice {

// The parameters of a limit as the rule language names them: {"rate", "50/s"}. Empty: not given.
using LimitWords = std::map<std::string, std::string>;

// The options of `sluicectl simulate`, as text.
struct SimulateOptions {
    std::string algorithm;
    LimitWords limit;
    std::string per = "packet";
    bool compare = false;

    std::string load = "backlog";
    std::string backlog = "10000";
    std::string ask_every = "100us";
    std::string offer = "2000/s";
    std::string size = "1000";
    std::string every = "1s";
    std::string on = "1s";
    std::string off = "1s";
    std::string seed = "1";
    std::string cost = "1";

    std::vector<std::string> stalls;  // START:LENGTH
    std::string duration;             // empty: as the load needs
    std::string bar = "100ms";
    std::string svg_file;
};

}  // namespace sluice
