#pragma once
#include "lib/policy/limits/limit_numbers_reader.hpp"
#include "lib/policy/limits/limit_reader.hpp"

#include <array>

namespace sluice {

inline constexpr auto kFixedWindowKeys = std::to_array<KeyRow>(
    {{"algorithm"}, {"per"}, {"count"}, {"window"}, {"phase"}, {"utc_offset"}});
inline constexpr auto kWindowKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"count"}, {"window"}});
inline constexpr auto kCountersKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"count"}, {"window"}, {"buckets"}, {"edge"}});

void read_fixed_window(const LimitNumbersReader& numbers, LimitText& limit);
void read_sliding_window(const LimitNumbersReader& numbers, LimitText& limit);
void read_sliding_counters(const LimitNumbersReader& numbers, LimitText& limit);
void read_sliding_log(const LimitNumbersReader& numbers, LimitText& limit);

}  // namespace sluice
