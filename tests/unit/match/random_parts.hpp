#pragma once
#include "lib/match/classifier_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <set>

namespace sluice::test {

// Steps at `count` random keys and at 0, to rows below `rows`.
template <typename Key>
std::vector<Step<Key>> random_steps(std::mt19937_64& random, unsigned width, std::size_t count,
                                    std::size_t rows) {
    std::set<Key> firsts{0};
    for (; count > 0; --count) {
        const Key key =
            (static_cast<Key>(random()) << (4 * sizeof(Key))) ^ static_cast<Key>(random());
        firsts.insert(key >> (8 * sizeof(Key) - width));
    }
    std::vector<Step<Key>> steps;
    for (const Key first : firsts) {
        steps.push_back({first, static_cast<std::uint32_t>(random() % rows)});
    }
    return steps;
}

// Sets the steps of a dimension of so many rows.
inline void add_random_steps(DimensionParts& to, std::mt19937_64& random, std::size_t count,
                             std::size_t rows) {
    const bool address = row_of(to.field).kind == FieldKind::Address;
    to.steps =
        random_steps<std::uint64_t>(random, address ? kV4Bits : key_bits(to.field), count, rows);
    if (address) {
        to.v6_steps = random_steps<Wide>(random, kV6Bits, count, rows);
    }
}

// Sound parts of a classifier with no meaning, the same for the same seed.
class RandomParts {
public:
    explicit RandomParts(std::uint64_t seed, std::size_t most_clauses = 1200)
        : random_{seed}, clauses_{most_clauses} {}

    ClassifierParts make(std::size_t rules) {
        ClassifierParts parts;
        if (rules == 0) {
            return parts;
        }
        std::set<std::uint32_t> always;
        for (std::size_t i = below(3); i > 0; --i) {
            always.insert(static_cast<std::uint32_t>(below(rules)));
        }
        parts.always.assign(always.begin(), always.end());
        for (std::size_t i = below(clauses_); i > 0; --i) {
            parts.rule_of.push_back(static_cast<std::uint32_t>(below(rules)));
        }
        for (std::size_t i = 1 + below(4); i > 0; --i) {
            Block block;
            std::generate(block.words.begin(), block.words.end(), std::ref(random_));
            parts.blocks.push_back(block);
        }
        for (std::size_t i = below(4); !parts.rule_of.empty() && i < kFieldCount;
             i += 1 + below(9)) {
            parts.dimensions.push_back(dimension(static_cast<Field>(i), parts));
        }
        return parts;
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }

    DimensionParts dimension(Field field, const ClassifierParts& parts) {
        DimensionParts out{.field = field};
        const std::size_t rows = 1 + below(5);
        const std::size_t blocks = blocks_for(parts.rule_of.size());
        out.used = {random_() & ((std::uint64_t{1} << blocks) - 1)};
        out.absent_row = static_cast<std::uint32_t>(below(rows));
        for (std::size_t i = 0; i < rows; ++i) {
            out.open.push_back(random_() & out.used[0]);
            for (int bits = std::popcount(out.open.back()); bits > 0; --bits) {
                out.references.push_back(static_cast<std::uint32_t>(below(parts.blocks.size())));
            }
        }
        add_random_steps(out, random_, below(6), rows);
        return out;
    }

    std::mt19937_64 random_;
    std::size_t clauses_;
};

}  // namespace sluice::test
