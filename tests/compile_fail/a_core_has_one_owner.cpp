// A CoreToken is moved, never copied: each core has one owner.
#include "lib/share/core.hpp"

sluice::CoreToken hand_on(sluice::CoreToken& me);

sluice::CoreToken hand_on(sluice::CoreToken& me) {
#ifdef BREAK_IT
    return me;
#else
    return std::move(me);
#endif
}
