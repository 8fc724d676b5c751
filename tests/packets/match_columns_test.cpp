#include "lib/packet/parse_columns.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/load_rules.hpp"
#include "tests/packets/random_condition.hpp"
#include "tests/packets/tree_oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

// Rules as text over headers and payloads, bursts in columns, two steps of matching: against the
// conditions' trees, packet by packet.
namespace sluice::match_columns_test {
namespace {

using test::Octets;

constexpr std::size_t kTailRoom = 64;

Octets octets(std::string_view text) {
    const ByteView bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
}

// A list of more ranges than a test compares.
std::string many_networks() {
    std::string list;
    for (int i = 0; i < 40; ++i) {
        list += (i == 0 ? "" : " ") + std::string{"10.0."} + std::to_string(2 * i) + ".0/24";
    }
    return "ip.src in {" + list + " 2001:db8:5::/48 2001:db8:7::9}";
}

std::string many_ports() {
    std::string list;
    for (int i = 0; i < 40; ++i) {
        list += (i == 0 ? "" : " ") + std::to_string(50 + 3 * i);
    }
    return "l4.dport in {" + list + "}";
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_{seed} {}
    std::size_t below(std::size_t bound) { return random_() % bound; }
    RowMask rows() { return static_cast<RowMask>(random_()); }

    Octets frame() {
        static constexpr std::string_view kTexts[] = {
            "", "GET /a", "xx attack", "GET /b attack", "post", "zzzzzzzzzzzz"};
        static constexpr const char* kSources[] = {"10.0.0.1",      "10.0.4.9",  "10.0.5.1",
                                                   "2001:db8:5::1", "10.0.78.1", "2001:db8:7::9"};
        test::Frame frame = below(2) == 0 ? test::udp() : test::tcp().flags(below(2) == 0 ? 2 : 18);
        frame.src(kSources[below(std::size(kSources))])
            .dport(static_cast<std::uint16_t>(50 + below(120)))
            .ttl(static_cast<std::uint8_t>(below(4)))
            .carries(octets(kTexts[below(std::size(kTexts))]));
        switch (below(12)) {
            case 0:
                frame.vlan(static_cast<std::uint16_t>(below(3)));
                break;
            case 1:
                frame.frag(8, false);
                break;
            case 2:
                return test::arp().bytes();
            case 3:
                return test::icmp(8, 0).bytes();
            case 4:
                frame.cut(20);
                break;
            default:
                break;
        }
        return frame.bytes();
    }

    std::string comparison() {
        static const std::string kComparisons[] = {
            "l4.dport eq 53",
            "l4.dport ge 60 and l4.dport le 90",
            "ip.proto eq 17",
            "tcp.flags.ack",
            "ip.ttl gt 1",
            "ip.version eq 6",
            "ip.frag eq \"later\"",
            "vlan.id eq 1",
            "icmp.type eq 8",
            "eth.type eq 0x0806",
            "ip.dst in {198.51.100.0/24}",
            "ip.src in {10.0.0.0/22 2001:db8:7::/48}",
            "port eq \"up\"",
            "payload.len gt 6",
            many_networks(),
            many_ports(),
            "payload contains \"attack\"",
            "payload matches \"^GET /[a-z]\"",
            "starts_with(payload, \"GET\")",
            "payload eq \"post\"",
            "not payload contains \"a\"",
            "ends_with(payload, \"attack\")",
        };
        return kComparisons[below(std::size(kComparisons))];
    }

private:
    std::mt19937_64 random_;
};

class Burst {
public:
    explicit Burst(Dice& dice) {
        const std::size_t count = dice.below(4) == 0 ? dice.below(kMaxBurst) + 1 : kMaxBurst;
        for (std::size_t row = 0; row < count; ++row) {
            bytes_[row] = dice.frame();
            const std::size_t size = bytes_[row].size();
            bytes_[row].resize(size + kTailRoom);
            columns_->set_ingress(row, Direction::In,
                                  dice.below(2) == 0 ? port_name("up") : port_name("down"));
            frames_.add(ByteView{bytes_[row]}.first(size), static_cast<std::uint32_t>(size));
        }
        frames_.readable_behind = dice.below(2) == 0 ? kTailRoom : 0;
        parse_columns(frames_, {}, *columns_);
    }
    [[nodiscard]] const FrameColumns& frames() const { return frames_; }
    [[nodiscard]] const HeaderColumns& columns() const { return *columns_; }

private:
    std::array<Octets, kMaxBurst> bytes_;
    FrameColumns frames_;
    std::unique_ptr<HeaderColumns> columns_ = std::make_unique<HeaderColumns>();
};

const Expression kAlways{.kind = Expression::Kind::And};

Expression tree_of(const std::string& condition) {
    return std::get<ParsedExpression>(parse_expression(condition)).tree;
}

using RowsByRule = std::vector<RowMask>;

RowsByRule expected(const std::vector<Expression>& trees, const Burst& burst) {
    RowsByRule rows(trees.size());
    for_each_row(burst.columns().well_formed(), [&](std::size_t row) {
        const PacketHeaders& headers = burst.columns().headers(row);
        const ByteView frame = burst.frames().frame(row).bytes;
        for (std::size_t rule = 0; rule < trees.size(); ++rule) {
            rows[rule] |= test::tree_says(trees[rule], headers, frame) ? row_bit(row) : 0;
        }
    });
    return rows;
}

// Also checks the order.
RowsByRule by_rule(std::span<const RuleMatch> list, std::size_t rules) {
    RowsByRule rows(rules);
    EXPECT_TRUE(std::ranges::is_sorted(list, std::ranges::less_equal{}, &RuleMatch::rule));
    EXPECT_TRUE(std::ranges::none_of(list, [](const RuleMatch& one) { return one.rows == 0; }));
    for (const RuleMatch& one : list) {
        rows[one.rule] |= one.rows;
    }
    return rows;
}

void check(const Classifier& classifier, const Burst& burst, const RowsByRule& wanted, Dice& dice) {
    static RuleMatches matches;
    const std::size_t rules = wanted.size();
    const auto scratch = TextScratch::make(classifier.texts());
    const RowMask valid = burst.columns().well_formed();
    classifier.match_headers(burst.columns(), valid, matches);
    const RowsByRule first = by_rule(matches.matched(), rules);
    const RowsByRule open = by_rule(matches.pending(), rules);
    const RowMask pending = matches.pending_rows();
    for (std::size_t rule = 0; rule < rules; ++rule) {
        EXPECT_EQ(first[rule] & ~wanted[rule], 0U) << "matched by headers alone";
        EXPECT_EQ(wanted[rule] & ~(first[rule] | open[rule]), 0U) << "never pending";
        EXPECT_EQ(open[rule] & (first[rule] | ~pending), 0U);
    }
    // Some rows first, then the rest.
    const RowMask some = dice.rows() & valid;
    classifier.match_texts(burst.frames(), burst.columns(), some, **scratch, matches);
    const RowsByRule second = by_rule(matches.matched(), rules);
    EXPECT_EQ(matches.pending_rows(), pending & ~some);
    for (std::size_t rule = 0; rule < rules; ++rule) {
        EXPECT_EQ(second[rule], (wanted[rule] & some) | (first[rule] & ~some));
    }
    classifier.match_texts(burst.frames(), burst.columns(), valid, **scratch, matches);
    EXPECT_EQ(by_rule(matches.matched(), rules), wanted);
    EXPECT_TRUE(matches.pending().empty());
    EXPECT_EQ(matches.pending_rows(), 0U);
}

TEST(MatchColumns, MatchesHeadersThenTextsAsTheTreesDo) {
    const char* const given = std::getenv("SLUICE_TEST_SEED");  // repeats a run
    const std::uint64_t seed = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice{seed};
    for (int round = 0; round < 60 && !HasFailure(); ++round) {
        const std::size_t rules = 1 + dice.below(round % 4 == 0 ? 60 : 8);
        std::string text = "version: 1\nrules:\n";
        std::vector<Expression> trees;
        for (std::size_t rule = 0; rule < rules; ++rule) {
            // Some packets match it: a condition that none can is refused.
            const std::string when = dice.below(12) == 0 ? ""
                                                         : "(" + test::random_condition(dice, 3) +
                                                               ") or eth.type eq 0x88b5";
            text += "  - {id: r" + std::to_string(rule) + ", mode: enforce, on_match: drop" +
                    (when.empty() ? "" : ", when: '" + when + "'") + "}\n";
            trees.push_back(when.empty() ? kAlways : tree_of(when));
        }
        SCOPED_TRACE(text);
        Classifier classifier = test::enforced({"r", text, nullptr}).set.classifier;
        classifier.make_fast();
        for (const Classifier::Way way : {Classifier::Way::ByClause, Classifier::Way::ByIndex}) {
            classifier.choose(way);
            ASSERT_EQ(classifier.is_by_clause(), way == Classifier::Way::ByClause);
            for (int burst = 0; burst < 4; ++burst) {
                const Burst packets{dice};
                check(classifier, packets, expected(trees, packets), dice);
            }
        }
    }
}

}  // namespace
}  // namespace sluice::match_columns_test
