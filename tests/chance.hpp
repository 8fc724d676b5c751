#pragma once
#include <array>
#include <cstddef>
#include <random>

namespace sluice::test {

// What a test leaves to chance; the same for the same seed.
class Chance {
public:
    explicit Chance(unsigned seed) : random_{seed} {}
    std::size_t below(std::size_t count) { return random_() % count; }
    bool one_in(std::size_t count) { return below(count) == 0; }
    template <typename T, std::size_t kCount>
    const T& of(const std::array<T, kCount>& list) {
        return list[below(kCount)];
    }

private:
    std::mt19937 random_;
};

}  // namespace sluice::test
