#include "lib/policy/clauses/clause_union.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

// Clauses over two fields, made of ranges.
class ClauseUnions : public testing::Test {
protected:
    [[nodiscard]] ClauseTerm range(Field field, unsigned first, unsigned last) {
        return {field, pool_.add(field, {.numbers = {{first, last}}})};
    }
    [[nodiscard]] Clause ports(unsigned first, unsigned last) {
        return {.fields = {range(Field::L4Dport, first, last)}, .texts = {}};
    }
    [[nodiscard]] Clause ports_with_ttl(unsigned first, unsigned last, unsigned ttl_first,
                                        unsigned ttl_last) {
        Clause clause = ports(first, last);
        const ClauseTerm ttl = range(Field::IpTtl, ttl_first, ttl_last);
        const bool is_first = ttl.field < clause.fields.front().field;
        clause.fields.insert(is_first ? clause.fields.begin() : clause.fields.end(), ttl);
        return clause;
    }
    [[nodiscard]] bool contained(const Clause& clause, const std::vector<Clause>& others) {
        std::vector<const Clause*> all;
        for (const Clause& other : others) {
            all.push_back(&other);
        }
        return union_.contains(clause, all);
    }

    SetPool pool_;
    ClauseUnion union_{pool_};
};

TEST_F(ClauseUnions, ContainWhatTheyShareOut) {
    EXPECT_TRUE(contained(ports(80, 90), {ports(80, 84), ports(85, 90)}));
    EXPECT_TRUE(contained(ports(80, 90), {ports(88, 95), ports(70, 88)}));
    EXPECT_FALSE(contained(ports(80, 90), {ports(80, 84), ports(86, 90)}));
    EXPECT_FALSE(contained(ports(80, 90), {ports(1, 79), ports(91, 99)}));
    EXPECT_FALSE(contained(ports(80, 90), {}));
}

TEST_F(ClauseUnions, CutFieldByField) {
    const std::vector<Clause> four{ports_with_ttl(80, 84, 1, 9), ports_with_ttl(85, 90, 1, 4),
                                   ports_with_ttl(85, 90, 5, 9)};
    EXPECT_TRUE(contained(ports_with_ttl(80, 90, 1, 9), four));
    EXPECT_TRUE(contained(ports_with_ttl(82, 86, 2, 8), four));
    EXPECT_FALSE(contained(ports_with_ttl(80, 90, 1, 10), four));
    EXPECT_FALSE(contained(ports(80, 90), four)) << "of no ttl";
    EXPECT_TRUE(contained(ports_with_ttl(80, 90, 1, 9), {ports(80, 90)}));
}

TEST_F(ClauseUnions, TakeNothingWhereATextIsTested) {
    Clause tested = ports(80, 90);
    tested.texts.push_back({0, false});
    EXPECT_FALSE(contained(ports(80, 90), {tested}));
    EXPECT_TRUE(contained(tested, {ports(80, 84), ports(85, 90)}));
}

TEST_F(ClauseUnions, SayNoBeyondTheirBudget) {
    std::vector<Clause> odd;
    for (unsigned port = 1; port < 60'000; port += 2) {
        odd.push_back(ports_with_ttl(port, port, port % 200, port % 200));
    }
    EXPECT_FALSE(contained(ports(1, 60'000), odd));
    EXPECT_FALSE(contained(ports(80, 90), {ports(80, 84)}));
}

}  // namespace
}  // namespace sluice
