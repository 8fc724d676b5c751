#include "lib/policy/clauses/domain_set.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::domain_set_test {
namespace {

// Sets over the 64 values of ip.dscp and `absent`, beside one bit per value.
struct Sample {
    DomainSet set;
    std::uint64_t values = 0;
};

DomainSet set_of_bits(std::uint64_t values, bool absent) {
    DomainSet set{.absent = absent, .numbers = {}, .v6 = {}};
    for (unsigned value = 0; value < 64; ++value) {
        if (((values >> value) & 1) == 0) {
            continue;
        }
        if (!set.numbers.empty() && set.numbers.back().last + 1 == value) {
            set.numbers.back().last = value;
        } else {
            set.numbers.push_back({value, value});
        }
    }
    return set;
}

TEST(DomainSet, CountsLikeBits) {
    std::mt19937_64 random{5};
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t a = random() & random();
        const std::uint64_t b = i % 5 == 0 ? 0 : random() | random();
        const bool in_a = random() % 2 == 0;
        const bool in_b = random() % 2 == 0;
        const DomainSet x = set_of_bits(a, in_a);
        const DomainSet y = set_of_bits(b, in_b);
        ASSERT_EQ(intersection(x, y), set_of_bits(a & b, in_a && in_b));
        ASSERT_EQ(unite(x, y), set_of_bits(a | b, in_a || in_b));
        ASSERT_EQ(complement(Field::IpDscp, x), set_of_bits(~a, !in_a));
    }
    EXPECT_EQ(everything(Field::IpDscp), set_of_bits(~std::uint64_t{0}, true));
    EXPECT_TRUE(complement(Field::IpDscp, everything(Field::IpDscp)).empty());
}

TEST(DomainSet, AddressesHaveTwoSpaces) {
    const IpPrefix ten = *parse_prefix("10.0.0.0/8");
    Leaf leaf{.field = Field::IpSrc};
    leaf.v4 = {{ten.address, parse_address("10.255.255.255")->address}};
    const DomainSet inside = set_of(leaf);
    EXPECT_EQ(inside.numbers, (std::vector<WideRange>{{0x0A00'0000, 0x0AFF'FFFF}}));
    EXPECT_TRUE(inside.v6.empty());
    leaf.negated = true;
    const DomainSet outside = set_of(leaf);
    EXPECT_EQ(outside.numbers,
              (std::vector<WideRange>{{0, 0x09FF'FFFF}, {0x0B00'0000, 0xFFFF'FFFF}}));
    EXPECT_EQ(outside.v6, (std::vector<WideRange>{{0, ~Wide{0}}}));
    EXPECT_FALSE(outside.absent);
    EXPECT_EQ(complement(Field::IpSrc, complement(Field::IpSrc, inside)), inside);
    EXPECT_TRUE(complement(Field::IpSrc, inside).absent);
}

}  // namespace
}  // namespace sluice::domain_set_test
