#include "lib/policy/clauses/clause_cover.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace sluice::clause_cover_test {
namespace {

constexpr Field kFieldsUsed[] = {Field::IpProto, Field::IpSrc, Field::L4Dport};
constexpr unsigned kValues = 8;

// What a clause asks of one field, a bit per case: absent, eight numbers, eight IPv6 addresses.
using Cases = std::uint32_t;
constexpr Cases kAbsent = 1;
constexpr Cases kAll = (Cases{1} << (1 + 2 * kValues)) - 1;

// Values of the edges and of the middle, neighbours and not.
constexpr Wide kPlaces[kValues] = {0, 1, 2, 40, 41, 99, 200, 255};

std::vector<WideRange> ranges_of(Cases cases) {
    std::vector<WideRange> ranges;
    for (unsigned i = 0; i < kValues; ++i) {
        if ((cases >> i & 1U) == 0) {
            continue;
        }
        if (!ranges.empty() && ranges.back().last + 1 == kPlaces[i]) {
            ranges.back().last = kPlaces[i];
        } else {
            ranges.push_back({kPlaces[i], kPlaces[i]});
        }
    }
    return ranges;
}

struct Drawn {
    std::vector<Cases> fields;  // by kFieldsUsed; kAll: not asked
    Clause clause;
};

Drawn draw(std::mt19937_64& random, SetPool& pool) {
    Drawn drawn;
    for (const Field field : kFieldsUsed) {
        const bool address = field == Field::IpSrc;
        Cases cases =
            static_cast<Cases>(random() & random()) & (address ? kAll : (kAll >> kValues));
        cases |= random() % 2 == 0 ? static_cast<Cases>(random()) & (kAll >> kValues) : 0;
        if (random() % 2 == 0 || cases == 0) {
            drawn.fields.push_back(kAll);
            continue;
        }
        drawn.fields.push_back(cases);
        drawn.clause.fields.push_back(
            {field, pool.add(field, {.absent = (cases & kAbsent) != 0,
                                     .numbers = ranges_of(cases >> 1),
                                     .v6 = ranges_of(cases >> (1 + kValues))})});
    }
    std::sort(drawn.clause.fields.begin(), drawn.clause.fields.end());
    return drawn;
}

bool contains(const Drawn& outer, const Drawn& inner) {
    for (std::size_t i = 0; i < outer.fields.size(); ++i) {
        if ((inner.fields[i] & ~outer.fields[i]) != 0) {
            return false;
        }
    }
    return true;
}

// Against asking every clause, case by case.
TEST(ClauseCover, FindsTheFirstOwnerThatContains) {
    std::mt19937_64 random{11};
    std::size_t found = 0;
    std::size_t missed = 0;
    for (int round = 0; round < 300; ++round) {
        SetPool pool;
        ClauseCover cover{pool};
        std::deque<Drawn> kept;  // stay where they are
        for (std::uint32_t owner = 0; owner < 20; ++owner) {
            cover.add(kept.emplace_back(draw(random, pool)).clause, owner);
        }
        for (int ask = 0; ask < 50; ++ask) {
            const Drawn asked = draw(random, pool);
            const auto before = static_cast<std::uint32_t>(random() % 21);
            std::optional<std::uint32_t> wanted;
            for (std::uint32_t owner = 0; owner < before && !wanted; ++owner) {
                wanted = contains(kept[owner], asked) ? std::optional{owner} : std::nullopt;
            }
            ASSERT_EQ(cover.first_owner(asked.clause, before), wanted);
            ++(wanted ? found : missed);
        }
    }
    EXPECT_GT(found, 1000U);
    EXPECT_GT(missed, 1000U);
}

// A set of many ranges is not listed by each, and found all the same.
TEST(ClauseCover, FindsSetsOfManyRanges) {
    SetPool pool;
    DomainSet many;
    for (Wide i = 0; i < 1000; ++i) {
        many.numbers.push_back({i * 10, i * 10 + 3});
    }
    const Clause outer{{{Field::L4Dport, pool.add(Field::L4Dport, many)}}, {}};
    const Clause inside{
        {{Field::L4Dport, pool.add(Field::L4Dport, {.numbers = {{51, 52}, {61, 63}}})}}, {}};
    const Clause outside{
        {{Field::L4Dport, pool.add(Field::L4Dport, {.numbers = {{51, 52}, {61, 64}}})}}, {}};
    ClauseCover cover{pool};
    cover.add(outer, 3);
    EXPECT_EQ(cover.first_owner(inside, 9), 3U);
    EXPECT_EQ(cover.first_owner(outside, 9), std::nullopt);
    EXPECT_EQ(cover.first_owner(inside, 3), std::nullopt);
}

}  // namespace
}  // namespace sluice::clause_cover_test
