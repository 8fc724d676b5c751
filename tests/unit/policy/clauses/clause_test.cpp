#include "lib/policy/clauses/clause.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::clause_test {
namespace {

Expression tree_of(const std::string& text) {
    auto parsed = parse_expression(text);
    if (const auto* error = std::get_if<Remark>(&parsed)) {
        ADD_FAILURE() << text << ": " << error->text;
        return {};
    }
    return std::get<ParsedExpression>(parsed).tree;
}

struct Row {
    std::string text;
    std::size_t clauses;
    std::size_t terms;  // in all of them
};

TEST(Clauses, AreAsFewAsThereNeedBe) {
    const Row rows[] = {
        {"ip.proto eq 17", 1, 1},
        {"ip.proto eq 17 and l4.dport eq 53", 1, 2},
        {"l4.dport eq 53 or l4.dport eq 123 or l4.dport ge 1024", 1, 1},
        {"ip.proto eq 17 or l4.dport eq 53", 2, 2},
        {"(ip.proto eq 17 and l4.dport eq 53) or (l4.dport eq 80 and ip.proto eq 17)", 1, 2},
        {"ip.proto eq 17 or (ip.proto eq 17 and l4.dport eq 53)", 1, 1},
        {"(ip.proto eq 17 and l4.dport eq 53) or ip.proto eq 17", 1, 1},
        {"not (ip.proto eq 17 and l4.dport eq 53)", 2, 2},
        {"not (ip.proto eq 17 or l4.dport eq 53)", 1, 2},
        {"not not ip.proto eq 17", 1, 1},
        {"(ip.proto eq 6 or l4.dport eq 1) and (ip.ttl eq 1 or ip.len eq 40)", 4, 8},
        // Nothing, and everything.
        {"ip.proto eq 6 and ip.proto eq 17", 0, 0},
        {"l4.dport eq 1 and not l4.dport ge 0", 0, 0},
        {"ip.ttl eq 1 and (ip.src in {10.0.0.0/8} and ip.src eq 192.0.2.1)", 0, 0},
        {"not l4.dport and l4.dport or not l4.sport and l4.sport", 0, 0},
        {"not ip.src in {0.0.0.0/0 ::/0} and ip.src in {::/0}", 0, 0},
        {"ip.proto eq 6 or not ip.proto eq 6", 1, 0},
        {"not (ip.proto eq 6 and ip.proto eq 17)", 1, 0},
        // A value that is there is not everything: the field may be absent.
        {"ip.proto ge 0", 1, 1},
        {"ip.proto eq 6 or ip.proto ne 6", 1, 1},
        {"(ip.proto ge 0 or not ip.proto ge 0) and l4.dport eq 53", 1, 1},
    };
    for (const Row& row : rows) {
        SetPool pool;
        const auto clauses = clauses_of(tree_of(row.text), pool);
        ASSERT_TRUE(clauses.has_value()) << row.text;
        EXPECT_EQ(clauses->size(), row.clauses) << row.text;
        std::size_t terms = 0;
        for (const Clause& clause : *clauses) {
            terms += clause.size();
        }
        EXPECT_EQ(terms, row.terms) << row.text;
    }
}

// (a or b) and (a or b) and so on, over fields that differ.
std::string product_of(std::size_t factors) {
    constexpr std::string_view kFields[] = {
        "ip.src.asn", "vlan.id",   "vlan.inner_id", "ip.dst.asn", "ip.proto",
        "ip.ttl",     "ip.dscp",   "ip.len",        "l4.sport",   "l4.dport",
        "tcp.flags",  "icmp.type", "icmp.code",     "payload.len"};
    std::string text;
    for (std::size_t i = 0; i < factors; ++i) {
        const std::string a{kFields[2 * i % 14]};
        const std::string b{kFields[(2 * i + 1) % 14]};
        text += (i == 0 ? "(" : " and (") + a + " eq " + std::to_string(20 + i / 7) + " or " + b +
                " eq " + std::to_string(20 + i / 7) + ")";
    }
    return text;
}

TEST(Clauses, AreRefusedWhenThereAreTooMany) {
    SetPool pool;
    EXPECT_EQ(clauses_of(tree_of(product_of(7)), pool)->size(), 128U);
    std::string two = product_of(7);
    for (int i = 0; i < 4; ++i) {
        two += " or (ip.src in {10.0." + std::to_string(i) + ".0/24} and " + product_of(7) +
               " and ip.dst in {10.0." + std::to_string(i) + ".0/24} and dir eq \"in\")";
    }
    EXPECT_TRUE(clauses_of(tree_of(two), pool).has_value());  // contained in the first
    std::string many;
    for (int i = 0; i < 9; ++i) {
        const std::string number = std::to_string(i);
        many += (i == 0 ? "(" : " or (") + product_of(7) + " and ip.src in {10.0." + number +
                ".0/24} and ip.dst in {10.0." + number + ".0/24})";
    }
    const Expression tree = tree_of(many);
    EXPECT_FALSE(clauses_of(tree, pool).has_value());
    EXPECT_EQ(count_when_multiplied_out(tree), 9 * 128U);
}

TEST(Clauses, CountWhatTheyWouldBe) {
    EXPECT_EQ(count_when_multiplied_out(tree_of("not (ip.proto eq 1 and ip.ttl eq 1)")), 2U);
    EXPECT_EQ(count_when_multiplied_out(tree_of("not (ip.proto eq 1 or ip.ttl eq 1)")), 1U);
    EXPECT_EQ(count_when_multiplied_out(tree_of(product_of(63))), std::uint64_t{1} << 63);
    EXPECT_EQ(count_when_multiplied_out(tree_of(product_of(64))), UINT64_MAX);
}

}  // namespace
}  // namespace sluice::clause_test
