#include "lib/rules/limit_numbers.hpp"

#include "lib/bucket/meter/any_meter.hpp"

namespace sluice {
namespace {

// The network steps of a key, and the rule itself.
constexpr std::size_t kSteps = 3;

}  // namespace

bool fill_coarser(Rule& rule) {
    bool all_fit = true;
    for_each_state(rule, [&](MeteredLimit& limit) {
        limit.coarser.clear();
        if (rule.on_full != OnFull::Coarsen) {
            return;
        }
        AnyLimit numbers = limit.limit;
        for (std::size_t aggregation_level = 0; aggregation_level < kSteps; ++aggregation_level) {
            const Result<AnyLimit> wider = scaled(numbers, rule.coarsen_factor);
            all_fit = all_fit && wider;
            numbers = wider ? *wider : numbers;
            limit.coarser.push_back(numbers);
        }
    });
    return all_fit;
}

}  // namespace sluice
