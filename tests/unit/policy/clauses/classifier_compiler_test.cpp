#include "lib/policy/clauses/classifier_compiler.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/random_condition.hpp"
#include "tests/packets/tree_oracle.hpp"
#include "tests/unit/policy/parsed_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace sluice::classifier_compiler_test {
namespace {

constexpr Tunnels kTunnels{.gre = true, .vxlan = true, .ipip = true};

// Values that rules and packets both draw from, so that they often meet.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_{seed} {}

    std::size_t below(std::size_t bound) { return random_() % bound; }
    template <typename T, std::size_t kCount>
    const T& one_of(const T (&values)[kCount]) {
        return values[below(kCount)];
    }

    std::string v4() {
        constexpr unsigned kOctets[] = {0, 1, 2, 10, 127, 128, 192, 255};
        return std::to_string(one_of(kOctets)) + "." + std::to_string(one_of(kOctets)) + "." +
               std::to_string(one_of(kOctets)) + "." + std::to_string(one_of(kOctets));
    }
    std::string v6() {
        constexpr const char* kParts[] = {"0", "1", "2001", "db8", "ffff", "8000"};
        std::string text = one_of(kParts);
        for (int i = 0; i < 7; ++i) {
            text += std::string{":"} + one_of(kParts);
        }
        return text;
    }
    std::uint16_t port() {
        constexpr std::uint16_t kPorts[] = {0, 1, 53, 80, 123, 443, 1023, 1024, 40'000, 65'535};
        return one_of(kPorts);
    }
    std::string prefix() {
        const bool six = below(3) == 0;
        const VersionedAddress address = *parse_address(six ? v6() : v4());
        const auto length = static_cast<unsigned>(below(six ? 129 : 33));
        return to_text(address.version, masked(address.address, length)) + "/" +
               std::to_string(length);
    }

    test::ParsedFrame packet() {
        const Direction dir = below(2) == 0 ? Direction::In : Direction::Out;
        test::Frame frame = kind();
        if (below(4) == 0) {
            frame = frame.vlan(static_cast<std::uint16_t>(1 + below(3)));
        }
        if (below(10) == 0) {
            frame = frame.frag(static_cast<std::uint16_t>(below(2)), true);
        }
        return test::parse_of(frame, dir, kTunnels);
    }
    std::string comparison() {
        constexpr const char* kAddresses[] = {"ip.src", "ip.dst", "outer.ip.src", "outer.ip.dst"};
        constexpr const char* kPorts[] = {"l4.sport", "l4.dport"};
        constexpr const char* kOrders[] = {"eq", "ne", "lt", "le", "gt", "ge"};
        constexpr const char* kOthers[] = {"tcp.flags.syn",
                                           "tcp.flags.ack eq 0",
                                           "tcp.flags in {2 16 18}",
                                           "ip.proto eq 17",
                                           "ip.proto ne 6",
                                           "ip.version eq 6",
                                           "vlan.id in {1 2}",
                                           "vlan.id",
                                           "eth.type eq 0x0806",
                                           "payload.len gt 20",
                                           "payload.len lt 60",
                                           "ip.len ge 48",
                                           "icmp.type lt 5",
                                           "dir eq \"in\"",
                                           "ip.frag ne \"none\"",
                                           "port eq \"uplink\"",
                                           "port ne \"uplink\"",
                                           "eth.src eq 16:17:18:19:1a:1b",
                                           "eth.dst ne 16:17:18:19:1a:1b",
                                           "ip.proto ge 0",
                                           "l4.dport lt 1",
                                           "icmp.code"};
        switch (below(6)) {
            case 5:
                return known_text_comparison();
            case 0:
                return std::string{one_of(kAddresses)} + " in {" + prefix() + " " + prefix() + "}";
            case 1:
                return std::string{one_of(kAddresses)} + (below(2) == 0 ? " eq " : " ne ") +
                       (below(3) == 0 ? v6() : v4());
            case 2:
            case 3: {
                const std::string field = one_of(kPorts);
                const std::string order = one_of(kOrders);
                // One beyond the ends, where no number is left, is an error.
                const int least = order == "lt" ? 1 : 0;
                const int most = order == "gt" ? 65'534 : 65'535;
                return field + " " + order + " " +
                       std::to_string(std::clamp<int>(port(), least, most));
            }
            default:
                return one_of(kOthers);
        }
    }

private:
    static test::Octets bytes_of_text(const std::string& text) {
        const ByteView bytes = bytes_of(text);
        return {bytes.begin(), bytes.end()};
    }
    // Short and of few bytes, so that texts often hold.
    std::string text(std::size_t most) {
        constexpr char kBytes[] = {'a', 'a', 'b', 'A', 'B', '.', '\n', '\0', '\xff'};
        std::string bytes;
        for (std::size_t left = below(most + 1); left > 0; --left) {
            bytes += one_of(kBytes);
        }
        return bytes;
    }
    static std::string quoted(const std::string& bytes) {
        std::string out = "\"";
        for (const char c : bytes) {
            char escape[5];
            (void)std::snprintf(escape, sizeof(escape), "\\x%02x", static_cast<unsigned char>(c));
            out += escape;
        }
        return out + "\"";
    }
    // What Hyperscan and PCRE mean the same by.
    std::string regex(unsigned depth) {
        constexpr const char* kAtoms[] = {"a",    "b",    "A",        "\\.",   "\\n",  ".",
                                          "[ab]", "[^a]", "[\\x00a]", "\\xff", "[A-B]"};
        constexpr const char* kTimes[] = {"*", "+", "?", "{2}", "{1,3}", "{2,}", "*?", "+?"};
        switch (depth == 0 ? 0 : below(6)) {
            case 1:
                return "(?:" + regex(depth - 1) + "|" + regex(depth - 1) + ")";
            case 2:
                return "(" + regex(depth - 1) + ")" + one_of(kTimes);
            case 3:
            case 4:
                return regex(depth - 1) + regex(depth - 1);
            default:
                return one_of(kAtoms);
        }
    }
    std::string text_comparison() {
        const std::string field = below(3) == 0 ? "lower(payload)" : "payload";
        switch (below(8)) {
            case 0:
                return field + " eq " + quoted(text(3));
            case 1:
                return field + " ne " + quoted(text(3));
            case 2:
                return field + " in {" + quoted(text(2)) + " " + quoted(text(4)) + "}";
            case 3:
                return "starts_with(" + field + ", " + quoted("a" + text(2)) + ")";
            case 4:
                return "ends_with(" + field + ", " + quoted(text(2) + "b") + ")";
            case 5:
                return field + " contains " + quoted(text(2) + one_of({"a", "\n", "."}));
            default:
                return field + " matches \"" + (below(4) == 0 ? "^" : "") + regex(2) +
                       (below(4) == 0 ? "$" : "") + "\"";
        }
    }
    template <std::size_t kCount>
    const char* one_of(const char* const (&&values)[kCount]) {
        return values[below(kCount)];
    }

    test::Frame kind() {
        const test::Octets payload = bytes_of_text(below(4) == 0 ? text(0) : text(12));
        switch (below(8)) {
            case 0:
                return test::arp();
            case 1:
                return test::icmp(static_cast<std::uint8_t>(below(10)), 0)
                    .src(v4())
                    .dst(v4())
                    .carries(payload);
            case 2:
                return test::icmpv6(static_cast<std::uint8_t>(130 + below(10)), 0);
            case 3:
            case 4:
                return test::tcp()
                    .src(v4())
                    .dst(v4())
                    .sport(port())
                    .dport(port())
                    .flags(static_cast<std::uint16_t>(below(64)))
                    .carries(payload);
            case 5:
                return test::udp().src(v6()).dst(v6()).sport(port()).dport(port()).carries(payload);
            case 6:
                return test::udp().src(v4()).dst(v4()).sport(port()).dport(port()).payload(
                    below(4) * 20);
            default:
                return test::udp().src(v4()).dst(v4()).sport(port()).dport(port()).carries(payload);
        }
    }
    // Of many, those that there were before: of thousands of different patterns Hyperscan alone
    // would take longer than all else.
    std::string known_text_comparison() {
        constexpr std::size_t kDifferent = 600;
        if (texts_.size() == kDifferent) {
            return texts_[below(kDifferent)];
        }
        return texts_.emplace_back(text_comparison());
    }

    std::mt19937_64 random_;
    std::vector<std::string> texts_;
};

std::vector<Expression> conditions(Dice& dice, std::size_t count, unsigned depth) {
    std::vector<Expression> all;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string text =
            test::random_condition(dice, static_cast<unsigned>(dice.below(depth + 1)));
        auto parsed = parse_expression(text);
        if (const auto* error = std::get_if<Remark>(&parsed)) {
            ADD_FAILURE() << text << ": " << error->text;
            continue;
        }
        all.push_back(std::move(std::get<ParsedExpression>(parsed).tree));
    }
    return all;
}

std::vector<std::uint32_t> rules_by_tree(const std::vector<Expression>& trees,
                                         const test::ParsedFrame& seen) {
    std::vector<std::uint32_t> rules;
    for (std::uint32_t i = 0; i < trees.size(); ++i) {
        if (test::tree_says(trees[i], seen.headers, seen.frame)) {
            rules.push_back(i);
        }
    }
    return rules;
}

struct Load {
    std::size_t rules;
    unsigned depth;
    std::size_t sets;
    std::size_t packets;
};

// From a rule or two to what needs several blocks, and two words of summary.
TEST(CompileClauses, AgreesWithTheTrees) {
    const Load loads[] = {
        {1, 4, 120, 20}, {7, 4, 30, 40}, {150, 3, 4, 100}, {1200, 2, 2, 150}, {12'000, 3, 1, 60}};
    std::size_t matched = 0;
    for (const Load& load : loads) {
        for (std::size_t set = 0; set < load.sets; ++set) {
            Dice dice{load.rules * 1000 + set};
            const std::vector<Expression> trees = conditions(dice, load.rules, load.depth);
            const std::optional<Classifier> classifier = test::compile_conditions(trees);
            ASSERT_TRUE(classifier.has_value());
            ASSERT_TRUE(are_sound(classifier->parts(), trees.size()));
            for (std::size_t i = 0; i < load.packets; ++i) {
                const test::ParsedFrame seen = dice.packet();
                const std::vector<std::uint32_t> want = rules_by_tree(trees, seen);
                ASSERT_EQ(test::rules_for(*classifier, seen.headers, seen.frame, kTunnels), want)
                    << load.rules << " rules, set " << set << ", packet " << i;
                matched += want.size();
            }
        }
    }
    EXPECT_GT(matched, 10'000U);
}

// A burst finds what its packets find alone.
TEST(CompileClauses, ABurstIsItsPackets) {
    Dice dice{9};
    const std::vector<Expression> trees = conditions(dice, 400, 2);
    const Classifier classifier = test::compile_conditions(trees).value();
    std::vector<test::ParsedFrame> packets;
    FrameColumns frames;
    HeaderColumns columns;
    for (std::size_t i = 0; i < kMaxBurst; ++i) {
        packets.push_back(dice.packet());
        columns.set_ingress(i, packets[i].headers.dir, packets[i].headers.port);
        frames.add(packets[i].frame, static_cast<std::uint32_t>(packets[i].frame.size()));
    }
    parse_columns(frames, {.tunnels = kTunnels, .captured = true}, columns);
    const auto got = test::rules_of_burst(classifier, frames, columns);
    for (std::size_t i = 0; i < packets.size(); ++i) {
        EXPECT_EQ(got[i], rules_by_tree(trees, packets[i]));
    }
}

TEST(CompileClauses, SharesWhatIsEqual) {
    std::vector<Expression> trees;
    for (int i = 0; i < 1000; ++i) {
        const std::string text =
            "ip.src in {10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".0/24}";
        trees.push_back(std::get<ParsedExpression>(parse_expression(text)).tree);
    }
    const Classifier classifier = test::compile_conditions(trees).value();
    const DimensionParts& dimension = classifier.parts().dimensions.at(0);
    EXPECT_EQ(dimension.open.size(), 1001U);            // a row for each, and one for no source
    EXPECT_EQ(classifier.parts().blocks.size(), 512U);  // the second block's bits are the first's
    EXPECT_EQ(dimension.references.size(), 1000U);      // a row that satisfies one has one
}

// Clauses of two kinds, each of more than a block, do not meet in one: what fills the first kind's
// last block no packet satisfies.
TEST(CompileClauses, KindsOfClausesHaveBlocksOfTheirOwn) {
    std::vector<Expression> trees;
    for (int i = 0; i < 700; ++i) {
        const std::string network = std::to_string(i / 250) + "." + std::to_string(i % 250);
        for (const std::string& text :
             {"ip.src in {10." + network + ".0/24}", "l4.sport eq " + std::to_string(i)}) {
            trees.push_back(std::get<ParsedExpression>(parse_expression(text)).tree);
        }
    }
    const Classifier classifier = test::compile_conditions(trees).value();
    EXPECT_EQ(classifier.parts().rule_of.size(), 1024U + 700U);
    const DimensionParts& sources = classifier.parts().dimensions.at(0);
    const DimensionParts& ports = classifier.parts().dimensions.at(1);
    EXPECT_EQ(sources.used, std::vector<std::uint64_t>{0b0011});
    EXPECT_EQ(ports.used, std::vector<std::uint64_t>{0b1100});
    for (int i = 0; i < 720; ++i) {
        const auto seen = test::parse_of(
            test::udp()
                .src("10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".1")
                .sport(static_cast<std::uint16_t>(i)));
        const std::uint32_t first = 2 * static_cast<std::uint32_t>(i);
        EXPECT_EQ(test::rules_for(classifier, seen.headers, seen.frame),
                  i < 700 ? (std::vector<std::uint32_t>{first, first + 1})
                          : std::vector<std::uint32_t>{});
    }
}

// Ranges that overlap in every way need a row for each way.
TEST(CompileClauses, IsRefusedWhenItWouldBeTooLarge) {
    SetPool sets;
    std::vector<RuleClause> clauses;
    std::mt19937 random{1};
    for (std::uint32_t rule = 0; rule < 1000; ++rule) {
        const auto [a, b] = std::minmax({random() % 65'536, random() % 65'536});
        clauses.push_back(
            {rule,
             Clause{{{Field::L4Dport,
                      sets.add(Field::L4Dport, {.absent = false, .numbers = {{a, b}}, .v6 = {}})}},
                    {}}});
    }
    const std::optional<ClassifierParts> whole = compile_clauses(clauses, sets);
    ASSERT_TRUE(whole.has_value());
    EXPECT_GT(whole->dimensions[0].steps.size(), 1900U);
    constexpr std::size_t kTooSmall = 100'000;
    EXPECT_FALSE(compile_clauses(clauses, sets, kTooSmall).has_value());
}

}  // namespace
}  // namespace sluice::classifier_compiler_test
