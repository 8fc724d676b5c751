#pragma once
#include "lib/match/step.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice::bench {

// A network and the value of its addresses. `first` has no bit behind the first `length`.
template <typename Key>
struct Prefix {
    Key first{};
    unsigned length = 0;
    std::uint32_t value = 0;
};

// The last key of a prefix, of keys of `width` bits.
template <typename Key>
Key last_of(const Prefix<Key>& prefix, unsigned width) {
    const Key all = static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - width);
    return prefix.length == width ? prefix.first : prefix.first | (all >> prefix.length);
}

// Steps where the longest prefix that holds a key says its value; 0 where none does.
template <typename Key>
std::vector<Step<Key>> steps_of(std::vector<Prefix<Key>> prefixes, unsigned width) {
    struct Open {
        Key last{};
        std::uint32_t value = 0;
    };
    const Key largest = static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - width);
    std::sort(prefixes.begin(), prefixes.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first < b.first : a.length < b.length;
    });
    std::vector<Step<Key>> steps;
    std::vector<Open> open{{largest, 0}};
    const auto emit = [&](Key first, std::uint32_t value) {
        if (!steps.empty() && steps.back().first == first) {
            steps.pop_back();
        }
        if (steps.empty() || steps.back().row != value) {
            steps.push_back({first, value});
        }
    };
    const auto close_before = [&](Key first) {
        while (open.back().last < first) {
            const Key next = open.back().last + 1;
            open.pop_back();
            emit(next, open.back().value);
        }
    };
    emit(0, 0);
    for (const Prefix<Key>& prefix : prefixes) {
        close_before(prefix.first);
        emit(prefix.first, prefix.value);
        open.push_back({last_of(prefix, width), prefix.value});
    }
    while (open.size() > 1) {
        const Key last = open.back().last;
        open.pop_back();
        if (last != largest) {
            emit(last + 1, open.back().value);
        }
    }
    return steps;
}

}  // namespace sluice::bench
