#include "lib/policy/clauses/clause_overlap.hpp"

#include "lib/policy/clauses/clause_neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

namespace sluice::clause_overlap_test {
namespace {

std::vector<Clause> clauses(std::string_view text, SetPool& pool) {
    auto outcome = parse_expression(text);
    EXPECT_TRUE(std::holds_alternative<ParsedExpression>(outcome)) << text;
    return *clauses_of(std::get<ParsedExpression>(outcome).tree, pool);
}

struct Row {
    std::string_view a;
    std::string_view b;
    bool may_meet;
};

TEST(ClauseOverlap, Table) {
    const Row rows[] = {
        {"ip.proto eq 6", "ip.proto eq 17", false},
        {"ip.proto in {6 17}", "ip.proto eq 17", true},
        {"ip.proto eq 6", "l4.dport eq 53", true},
        {"dir eq \"in\"", "dir eq \"out\"", false},
        {"dir eq \"in\"", "not (dir eq \"in\")", false},
        {"port eq \"a\"", "port eq \"b\"", false},
        {"ip.version eq 4", "ip.version eq 6", false},
        {"ip.frag eq \"none\"", "ip.frag in {\"first\" \"later\"}", false},
        {"ip.dst in {192.0.2.0/24}", "ip.dst in {198.51.100.0/24}", false},
        {"ip.dst in {192.0.2.0/24}", "ip.dst eq 192.0.2.255", true},
        {"ip.dst in {192.0.2.0/25}", "ip.dst eq 192.0.2.128", false},
        {"ip.dst in {192.0.2.0/24}", "ip.dst in {2001:db8::/32}", false},
        {"l4.dport le 10", "l4.dport ge 10", true},
        {"l4.dport lt 10", "l4.dport ge 10", false},
        {"l4.dport eq 53", "not (l4.dport eq 53)", false},
        {"not (l4.dport eq 53)", "not (l4.dport eq 80)", true},
        {"ip.dst eq 192.0.2.1 and l4.dport eq 53", "ip.dst eq 192.0.2.1 and l4.dport eq 80", false},
        {"ip.proto eq 6 or l4.dport eq 53", "ip.proto eq 17 and l4.dport eq 80", false},
        {"ip.proto eq 6 or l4.dport eq 53", "ip.proto eq 17 and l4.dport in {53 80}", true},
        {"payload contains \"x\"", "payload contains \"y\"", true},
        {"payload contains \"x\"", "not (payload contains \"x\")", false},
    };
    for (const Row& row : rows) {
        SetPool pool;
        const std::vector<Clause> a = clauses(row.a, pool);
        const std::vector<Clause> b = clauses(row.b, pool);
        ClauseOverlap overlap{pool};
        EXPECT_EQ(overlap.may_meet(a, b), row.may_meet) << row.a << " | " << row.b;
        EXPECT_EQ(overlap.may_meet(b, a), row.may_meet) << row.b << " | " << row.a;
    }
    SetPool pool;
    ClauseOverlap overlap{pool};
    EXPECT_TRUE(overlap.may_meet(std::vector{Clause{}}, clauses("ip.proto eq 6", pool)));
    EXPECT_FALSE(overlap.may_meet({}, std::vector{Clause{}})) << "what never matches meets nothing";
}

// Against sets that are intersected whole.
TEST(ClauseOverlap, SetsHaveInCommonWhatTheirIntersectionSays) {
    std::mt19937 random{3};
    for (int round = 0; round < 2'000; ++round) {
        const auto set = [&random] {
            DomainSet made;
            Wide at = random() % 8;
            for (std::size_t i = random() % 5; i > 0; --i) {
                const Wide last = at + random() % 4;
                (random() % 4 == 0 ? made.v6 : made.numbers).push_back({at, last});
                at = last + 2 + random() % 6;
            }
            made.absent = random() % 4 == 0;
            return made;
        };
        const DomainSet a = set();
        const DomainSet b = set();
        EXPECT_EQ(have_common(a, b), !intersection(a, b).empty()) << round;
    }
}

// Whoever may meet by their clauses is a neighbour.
TEST(ClauseNeighbours, LeaveNobodyOut) {
    std::mt19937 random{5};
    std::size_t left_out = 0;
    for (int round = 0; round < 200; ++round) {
        SetPool pool;
        std::vector<std::vector<Clause>> all;
        for (int i = 0; i < 12; ++i) {
            const auto net = [&random]() -> std::string {
                if (random() % 5 == 0) {
                    return "2001:db8::" + std::to_string(random() % 3 * 2) + "/127";
                }
                return random() % 5 == 0 ? "10.0.0.0/23"
                                         : "10.0." + std::to_string(random() % 4) + ".0/24";
            };
            std::string text = random() % 6 == 0 ? "ip.proto eq 6" : "ip.dst in {" + net() + "}";
            text += random() % 4 == 0 ? " or ip.dst in {" + net() + "}" : "";
            text += random() % 4 == 0 ? " and l4.dport eq 53" : "";
            all.push_back(random() % 10 == 0 ? std::vector{Clause{}} : clauses(text, pool));
        }
        std::vector<const std::vector<Clause>*> listed{nullptr};
        for (const std::vector<Clause>& one : all) {
            listed.push_back(&one);
        }
        const ClauseNeighbours neighbours{listed, pool};
        ClauseOverlap overlap{pool};
        for (std::size_t a = 1; a < listed.size(); ++a) {
            const std::vector<std::size_t> near = neighbours.of(a);
            EXPECT_TRUE(std::ranges::is_sorted(near));
            EXPECT_TRUE(std::ranges::binary_search(near, 0U)) << "of which nothing is known";
            for (std::size_t b = 1; b < listed.size(); ++b) {
                const bool is_near = std::ranges::binary_search(near, b);
                EXPECT_TRUE(is_near || !overlap.may_meet(*listed[a], *listed[b]));
                left_out += is_near ? 0 : 1;
            }
        }
        EXPECT_EQ(neighbours.of(0).size(), listed.size());
    }
    EXPECT_GT(left_out, 5'000U);
}

// Beyond what is paid for, everything may meet.
TEST(ClauseOverlap, EndsInTime) {
    SetPool pool;
    std::vector<std::vector<Clause>> all;
    for (int host = 0; host < 2'500; ++host) {
        all.push_back(clauses(
            "ip.dst eq 10.0." + std::to_string(host / 250) + "." + std::to_string(host % 250),
            pool));
    }
    ClauseOverlap overlap{pool};
    EXPECT_FALSE(overlap.may_meet(all[0], all[1]));
    std::size_t meet = 0;
    for (const auto& a : all) {
        for (const auto& b : all) {
            meet += overlap.may_meet(a, b) ? 1 : 0;
        }
    }
    EXPECT_GT(meet, all.size());
    EXPECT_TRUE(overlap.may_meet(all[0], all[1]));
}

}  // namespace
}  // namespace sluice::clause_overlap_test
