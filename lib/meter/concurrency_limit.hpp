#pragma once
#include "lib/meter/window_limit.hpp"

// How many connections of a key may be open at once. One of which no packet has been seen for the
// time `idle` is open no more.
namespace sluice {

struct ConcurrencyLimit {
    WindowNumbers numbers;  // the window is `idle`
    [[nodiscard]] bool operator==(const ConcurrencyLimit&) const noexcept = default;
};

// As make_window_numbers(); errors (OutOfRange) name `count` or `idle`.
[[nodiscard]] Result<ConcurrencyLimit> make_concurrency(Units count, Nanoseconds idle);

}  // namespace sluice
