#pragma once
#include "lib/policy/limits/limit_numbers_reader.hpp"
#include "lib/policy/limits/limit_reader.hpp"

#include <array>

namespace sluice {

inline constexpr auto kTokenBucketKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"rate"}, {"burst"}});
inline constexpr auto kLeakyBucketKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"rate"}, {"queue"}});

void read_token_bucket(const LimitNumbersReader& numbers, LimitText& limit);
void read_leaky_bucket(const LimitNumbersReader& numbers, LimitText& limit);

}  // namespace sluice
