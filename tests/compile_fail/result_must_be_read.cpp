// What can fail cannot be called as if it could not.
#include "lib/base/result.hpp"

sluice::Result<sluice::Done> try_it();
bool tried();

bool tried() {
#ifdef BREAK_IT
    try_it();
    return true;
#else
    return try_it().has_value();
#endif
}
