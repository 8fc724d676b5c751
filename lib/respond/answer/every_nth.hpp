#pragma once
#include <cstdint>

namespace sluice {

// Takes one of every so many, the last of them: the `slip` of a rule on one worker.
class EveryNth {
public:
    // `every` 0 takes none, 1 each one.
    [[nodiscard]] constexpr bool take(std::uint32_t every) noexcept {
        if (every == 0 || ++since_ < every) {
            return false;
        }
        since_ = 0;
        return true;
    }

private:
    std::uint32_t since_ = 0;
};

}  // namespace sluice
