#pragma once
#include <cstdlib>

// The one macro: an invariant that only our own mistake can break. Checked in debug, sanitizer and
// fuzz builds (meson's buildtype or -DSLUICE_CHECKS), gone in release. Never for input.
#if !defined(NDEBUG) || defined(SLUICE_CHECKS)
#define SLUICE_CHECK(condition) \
    do {                        \
        if (!(condition)) {     \
            std::abort();       \
        }                       \
    } while (false)
#else
#define SLUICE_CHECK(condition) static_cast<void>(0)
#endif
