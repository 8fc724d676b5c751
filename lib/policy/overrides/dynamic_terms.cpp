#include "lib/policy/overrides/dynamic_terms.hpp"

#include "lib/base/wide.hpp"
#include "lib/policy/values/units_text.hpp"

#include <array>

namespace sluice {
namespace {

struct HeldRow {
    NumberWord word;
    std::string_view name;
    std::string WrittenNumbers::* bound;
    std::string_view NumbersText::* wanted;
};
constexpr auto kHeldRows = std::to_array<HeldRow>({
    {NumberWord::Rate, "rate", &WrittenNumbers::rate, &NumbersText::rate},
    {NumberWord::Burst, "burst", &WrittenNumbers::burst, &NumbersText::burst},
    {NumberWord::Count, "count", &WrittenNumbers::count, &NumbersText::count},
});

int sign_of(const auto& a, const auto& b) {
    return a < b ? -1 : (b < a ? 1 : 0);
}

std::optional<int> order_of_rates(std::string_view a, std::string_view b, Per per) {
    const Result<Rate> left = parse_rate(a, per);
    const Result<Rate> right = parse_rate(b, per);
    if (!left || !right) {
        return std::nullopt;
    }
    // Both factors are below 2^64, and a period is positive.
    const auto product = [](const Rate& units, const Rate& period) {
        return static_cast<Wide>(units.units.count()) *
               static_cast<std::uint64_t>(period.period.count());
    };
    return sign_of(product(*left, *right), product(*right, *left));
}

std::string list_of_bounds(const DynamicTerms& terms) {
    std::string text;
    for (const HeldRow& row : kHeldRows) {
        if (!(terms.floor.*row.bound).empty()) {
            text += (text.empty() ? "" : ", ") + std::string{row.name} + " ";
            text += terms.floor.*row.bound + " to " + terms.ceiling.*row.bound;
        }
    }
    return text;
}

// The bound that a number is beyond; nullptr: it is within both.
const std::string* bound_beside(const DynamicTerms& terms, const HeldRow& row,
                                std::string_view wanted, Per per) {
    const std::string& floor = terms.floor.*row.bound;
    const std::string& ceiling = terms.ceiling.*row.bound;
    if (order_of(row.word, wanted, floor, per).value_or(0) < 0) {
        return &floor;
    }
    return order_of(row.word, wanted, ceiling, per).value_or(0) > 0 ? &ceiling : nullptr;
}

}  // namespace

std::string text_of(const DynamicTerms& terms) {
    return list_of_bounds(terms) + ", for at most " + terms.ttl_text;
}

std::optional<int> order_of(NumberWord word, std::string_view a, std::string_view b, Per per) {
    if (word == NumberWord::Rate) {
        return order_of_rates(a, b, per);
    }
    const auto amount = [per](std::string_view text) {
        return per == Per::Byte ? parse_size(text) : parse_count(text);
    };
    const Result<Units> left = amount(a);
    const Result<Units> right = amount(b);
    return left && right ? std::optional{sign_of(left->count(), right->count())} : std::nullopt;
}

std::optional<NumbersFault> fault_under(const DynamicTerms& terms, const NumbersText& wanted,
                                        Per per) {
    for (const HeldRow& row : kHeldRows) {
        const std::string_view number = wanted.*row.wanted;
        if (number.empty()) {
            continue;
        }
        const std::string name{row.name};
        const std::string& floor = terms.floor.*row.bound;
        if (floor.empty()) {
            return NumbersFault{row.word, "the rule's `dynamic` has no bounds for a " + name +
                                              ": it lets " + list_of_bounds(terms) + " be set"};
        }
        if (bound_beside(terms, row, number, per) != nullptr) {
            return NumbersFault{row.word, "the " + name + " " + std::string{number} +
                                              " is outside of the rule's `dynamic`: floor " +
                                              floor + ", ceiling " + terms.ceiling.*row.bound};
        }
    }
    return std::nullopt;
}

NumbersText held_within(const DynamicTerms& terms, const NumbersText& wanted, Per per) {
    NumbersText held = wanted;
    for (const HeldRow& row : kHeldRows) {
        std::string_view& number = held.*row.wanted;
        if ((terms.floor.*row.bound).empty()) {
            number = {};
        } else if (!number.empty()) {
            const std::string* bound = bound_beside(terms, row, number, per);
            number = bound != nullptr ? std::string_view{*bound} : number;
        }
    }
    return held;
}

}  // namespace sluice
