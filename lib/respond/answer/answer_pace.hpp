#pragma once
#include "lib/respond/answer/answer_bounds.hpp"

#include <array>
#include <cstdint>

namespace sluice {

// How many answers that are larger than what they answer one worker sends to a source in a second:
// a source that is not what it says it is brings no more than that upon whom it names. Sources
// that share a place share its answers.
class AnswerPace {
public:
    // False: no more in this second. `source` is a keyed digest of the address.
    [[nodiscard]] bool take(std::uint64_t source, std::uint32_t second) noexcept {
        Place& place = places_[source % kAnswerPaces];
        if (place.second != second) {
            place = {.second = second, .count = 0};
        }
        if (place.count == kMostAnswersPerSecond) {
            return false;
        }
        ++place.count;
        return true;
    }

private:
    struct Place {
        std::uint32_t second = 0;
        std::uint32_t count = 0;
    };
    std::array<Place, kAnswerPaces> places_{};
};

}  // namespace sluice
