// Whoever has no token of a core may read its counters and cannot write them.
#include "lib/share/core.hpp"

void count_one(sluice::PerCore<sluice::Counter>& counters, const sluice::CoreToken& me);

void count_one(sluice::PerCore<sluice::Counter>& counters, const sluice::CoreToken& me) {
#ifdef BREAK_IT
    counters.of(me.index()).add(1);
#else
    counters.mine(me).add(1);
#endif
}
