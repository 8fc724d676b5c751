#pragma once
#include "lib/policy/limits/limit_numbers_reader.hpp"
#include "lib/policy/limits/limit_reader.hpp"

#include <array>

namespace sluice {

inline constexpr auto kOneRateKeys =
    std::to_array<KeyRow>({{"algorithm"}, {"per"}, {"cir"}, {"cbs"}, {"ebs"}, {"color"}});
inline constexpr auto kTwoRateKeys = std::to_array<KeyRow>({{"algorithm"},
                                                            {"per"},
                                                            {"variant"},
                                                            {"cir"},
                                                            {"cbs"},
                                                            {"pir"},
                                                            {"pbs"},
                                                            {"eir"},
                                                            {"ebs"},
                                                            {"color"}});

void read_srtcm(const LimitNumbersReader& numbers, LimitText& limit);
void read_trtcm(const LimitNumbersReader& numbers, LimitText& limit);

}  // namespace sluice
