#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {

// One limit's numbers for one key; empty: as the limit has it.
struct NumbersText {
    std::string_view rate;
    std::string_view burst;  // of a leaky bucket: its queue
    std::string_view count;
};

enum class NumberWord : std::uint8_t { Rate, Burst, Count };

struct NumbersFault {
    NumberWord word{};
    std::string what;
};

// The limit with other numbers: same algorithm, same window. `fault` is set when there are none.
[[nodiscard]] std::optional<AnyLimit> with_numbers(const MeteredLimit& limit,
                                                   const NumbersText& text, NumbersFault& fault);

}  // namespace sluice
