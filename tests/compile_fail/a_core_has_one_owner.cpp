// Whoever acts as a core may hand its token on, and then no longer acts as it.
#include "lib/share/core.hpp"

sluice::CoreToken hand_on(sluice::CoreToken& me);

sluice::CoreToken hand_on(sluice::CoreToken& me) {
#ifdef BREAK_IT
    return me;
#else
    return std::move(me);
#endif
}
