#include "lib/rules/limit_numbers.hpp"

#include "lib/rules/slots.hpp"

namespace sluice {

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
