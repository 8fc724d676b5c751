// A rule set that a worker may still read is freed with proof that none does, or not at all.
#include "lib/share/published.hpp"

void swap_rules(sluice::Published<int>& rules, const sluice::GracePeriod& proof);

void swap_rules(sluice::Published<int>& rules, const sluice::GracePeriod& proof) {
#ifdef BREAK_IT
    (void)proof;
    rules.publish(std::make_unique<const int>(1)).reclaim();
#else
    rules.publish(std::make_unique<const int>(1)).reclaim(proof);
#endif
}
