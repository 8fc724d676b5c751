#include "tests/bench/pipeline_rows.hpp"
#include "tests/bench/rte_reference.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

// pipeline_bench [--quick] [--rules FILE] [ID...]: P1, P2, P5 to P8, A3 and V1, the whole pipeline
// of one lcore in process. P1 and P2 come together. Prints one JSON object a line.
namespace sluice::bench {
namespace {

struct Part {
    std::vector<std::string> ids;
    void (*measure)(const PipelineRun& run);
};

int run(const PipelineRun& run, const std::vector<std::string>& ids) {
    const Part parts[] = {{{"P1", "P2"}, measure_one_rule}, {{"P5"}, measure_rule_file},
                          {{"P6"}, measure_shapes},         {{"P7"}, measure_unjudged},
                          {{"P8"}, measure_key_curve},      {{"A3"}, measure_unconcerned},
                          {{"V1"}, measure_maps},           {{"V1"}, measure_preview}};
    if (!start_eal()) {
        return 1;
    }
    for (const Part& part : parts) {
        bool wanted = ids.empty();
        for (const std::string& id : ids) {
            wanted = wanted || std::find(part.ids.begin(), part.ids.end(), id) != part.ids.end();
        }
        if (wanted) {
            part.measure(run);
        }
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    sluice::bench::PipelineRun run;
    std::vector<std::string> ids;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--quick") == 0) {
            run.quick = true;
        } else if (std::strcmp(arguments[i], "--rules") == 0 && i + 1 < count) {
            run.rule_file = arguments[++i];
        } else {
            ids.emplace_back(arguments[i]);
        }
    }
    return sluice::bench::run(run, ids);
}
