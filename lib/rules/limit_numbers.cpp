#include "lib/rules/limit_numbers.hpp"

#include "lib/meter/any_meter.hpp"
#include "lib/rules/slots.hpp"

namespace sluice {
namespace {

// The network steps of a key, and the rule itself.
constexpr std::size_t kSteps = 3;

}  // namespace

Result<Done> fill_coarser(Rule& rule) {
    for (MeteredLimit& limit : rule.limits) {
        limit.coarser.clear();
        if (rule.on_full != OnFull::Coarsen) {
            continue;
        }
        std::uint64_t factor = 1;
        for (std::size_t step = 0; step < kSteps; ++step) {
            factor *= rule.coarsen_factor;
            const Result<AnyLimit> wider = scaled(limit.limit, factor);
            if (!wider) {
                return Error{wider.error().code, "limit " + limit.name + ", coarsened by " +
                                                     std::to_string(factor) + ": " +
                                                     wider.error().what};
            }
            limit.coarser.push_back(*wider);
        }
    }
    return Done{};
}

void number_limits(RuleSet& set) {
    std::uint16_t slot = 0;
    for (Rule& rule : set.rules) {
        for (MeteredLimit& limit : rule.limits) {
            limit.slot = ++slot;
        }
    }
    list_slots(set);
}

}  // namespace sluice
