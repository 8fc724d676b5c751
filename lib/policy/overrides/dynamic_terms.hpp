#pragma once
#include "lib/policy/overrides/override_numbers.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace sluice {

// Keys of one rule whose numbers may be set through its `dynamic`, and of all rules together. Less
// than what may be set at run time in all (kMaxKeySettings), so that an operator always has room.
inline constexpr std::size_t kMaxDynamicKeys = 4'000;
inline constexpr std::size_t kMaxDynamicKeysInAll = 8'000;

// Numbers of a limit as they are written; empty: none.
struct WrittenNumbers {
    std::string rate{};
    std::string burst{};  // of a leaky bucket: its queue
    std::string count{};

    [[nodiscard]] NumbersText text() const noexcept { return {rate, burst, count}; }
};

// `dynamic` of a rule: numbers may be set for single keys at run time, each from its floor to its
// ceiling, both included, for at most `ttl`. `floor` and `ceiling` have the same numbers.
struct DynamicTerms {
    Nanoseconds ttl{};
    std::string ttl_text{};  // as written
    WrittenNumbers floor{};
    WrittenNumbers ceiling{};
};

// "rate 1/s to 500/s, for at most 10m"
[[nodiscard]] std::string text_of(const DynamicTerms& terms);

// The order of two numbers of a limit, both of one kind: below zero when `a` is the smaller one.
// nullopt: one of them cannot be read.
[[nodiscard]] std::optional<int> order_of(NumberWord word, std::string_view a, std::string_view b,
                                          Per per);

// The number of `wanted` that may not be set, and why; nullopt: all may. A number that cannot be
// read is found out where it is read.
[[nodiscard]] std::optional<NumbersFault> fault_under(const DynamicTerms& terms,
                                                      const NumbersText& wanted, Per per);

// The numbers brought back to the nearest bound where they are outside; what has no bounds is as
// the limit has it. It refers to the texts of both.
[[nodiscard]] NumbersText held_within(const DynamicTerms& terms, const NumbersText& wanted,
                                      Per per);

}  // namespace sluice
