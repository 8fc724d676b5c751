#pragma once
#include <string>

namespace sluice::test {

// A condition over dice.comparison()s, combined up to this depth.
template <typename Dice>
std::string random_condition(Dice& dice, unsigned depth) {
    switch (depth == 0 ? 0 : dice.below(6)) {
        case 1:
            return "not " + random_condition(dice, depth - 1);
        case 2:
        case 3:
            return "(" + random_condition(dice, depth - 1) + " and " +
                   random_condition(dice, depth - 1) + ")";
        case 4:
            return "(" + random_condition(dice, depth - 1) + " or " +
                   random_condition(dice, depth - 1) + ")";
        default:
            return dice.comparison();
    }
}

}  // namespace sluice::test
