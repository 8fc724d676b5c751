#include "lib/match/address_key.hpp"
#include "lib/match/classifier.hpp"
#include "lib/packet/parse_columns.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/match/reference_classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

// Bursts in columns against a reference that reads the parts packet by packet: both ways of
// matching, fields of every kind.
namespace sluice::classify_columns_test {
namespace {

using test::Octets;

constexpr std::size_t kRules = 200;
constexpr ParseOptions kOptions{.tunnels = {.gre = true, .vxlan = true, .ipip = true},
                                .captured = true};

std::vector<Octets> frames() {
    const auto v6 = [](test::Frame frame) { return frame.src("2001:db8::1").dst("2001:db8:7::2"); };
    using test::tcp;
    using test::udp;
    return {
        udp().src("10.0.0.1").dst("192.0.2.200").sport(7).dport(53).size(100).bytes(),
        tcp().src("10.0.0.2").sport(9).dport(443).flags(0x12).ttl(3).tos(0xB8).size(900).bytes(),
        tcp().src("10.0.0.2").sport(9).dport(443).flags(0x29).ttl(3).vlan(7).size(90).bytes(),
        v6(udp()).sport(60000).dport(53).size(100).bytes(),
        v6(tcp()).dport(443).flags(0x04).ttl(200).tos(0x2C).size(90).bytes(),
        udp().src("10.0.0.3").vlan(5).vlan(6).bytes(),
        udp().src("10.0.0.1").frag(0, true).size(90).bytes(),
        udp().src("10.0.0.1").frag(8, false).size(90).bytes(),
        test::icmp(8, 0).src("10.0.0.9").bytes(),
        test::icmpv6(128, 1).bytes(),
        udp().src("10.0.0.1").proto(4).carries(tcp().src("10.9.9.9").packet()).bytes(),
        v6(udp()).proto(4).carries(tcp().src("10.9.9.8").packet()).bytes(),
        udp().src("10.0.0.1").proto(132).size(90).bytes(),
        udp().src("10.0.0.1").ip_len(2000).size(90).bytes(),
        udp().src("10.0.0.1").cut(30).bytes(),
        udp().src("10.0.0.1").udp_len(7).bytes(),
        test::arp().bytes(),
    };
}

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_{seed} {}

    std::uint64_t number() { return random_(); }
    std::size_t below(std::size_t bound) { return random_() % bound; }
    template <typename T>
    const T& one_of(const std::vector<T>& values) {
        return values[below(values.size())];
    }

private:
    std::mt19937_64 random_;
};

// A burst with random ingress, frames changed here and there, and origins as a database gives them.
class RandomBurst {
public:
    explicit RandomBurst(Dice& dice) {
        static const std::vector<Octets> kFrames = test_frames();
        bytes_.resize(dice.below(8) == 0 ? dice.below(kMaxBurst) + 1 : kMaxBurst);
        for (Octets& bytes : bytes_) {
            bytes = dice.one_of(kFrames);
            for (std::size_t changes = dice.below(3); changes > 0; --changes) {
                const std::size_t within = std::min<std::size_t>(bytes.size(), 70);
                bytes[dice.below(within)] = static_cast<std::byte>(dice.number());
            }
            columns_->set_ingress(frames_.size, dice.below(2) == 0 ? Direction::In : Direction::Out,
                                  dice.below(3));
            frames_.add(bytes, static_cast<std::uint32_t>(bytes.size()));
        }
        parse_columns(frames_, kOptions, *columns_);
        add_origins(dice);
    }

    [[nodiscard]] const FrameColumns& frames() const { return frames_; }
    [[nodiscard]] const HeaderColumns& columns() const { return *columns_; }

private:
    static std::vector<Octets> test_frames() { return classify_columns_test::frames(); }
    void add_origins(Dice& dice) {
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            columns_->src_country[row] = static_cast<std::uint16_t>(dice.below(4));
            columns_->dst_country[row] = static_cast<std::uint16_t>(dice.below(700));
            columns_->src_asn[row] = static_cast<std::uint32_t>(dice.number());
            columns_->dst_asn[row] = static_cast<std::uint32_t>(dice.below(5));
        }
        for (const HeaderPart part : {HeaderPart::SrcCountry, HeaderPart::DstCountry,
                                      HeaderPart::SrcAsn, HeaderPart::DstAsn}) {
            columns_->add_present(
                part, columns_->present_rows(HeaderPart::Ip) & static_cast<RowMask>(dice.number()));
        }
    }

    std::vector<Octets> bytes_;
    FrameColumns frames_;
    std::unique_ptr<HeaderColumns> columns_ = std::make_unique<HeaderColumns>();
};

// Parts whose steps lie at and beside values that packets have.
class RandomClauses {
public:
    RandomClauses(Dice& dice, const RandomBurst& burst) : dice_{dice}, burst_{burst} {}

    ClassifierParts make(std::size_t clauses, const std::vector<Field>& fields,
                         std::size_t most_steps) {
        ClassifierParts parts;
        for (std::size_t i = 0; i < clauses; ++i) {
            parts.rule_of.push_back(static_cast<std::uint32_t>(dice_.below(kRules)));
        }
        std::set<std::uint32_t> always;
        for (std::size_t i = dice_.below(3); i > 0; --i) {
            always.insert(static_cast<std::uint32_t>(dice_.below(kRules)));
        }
        parts.always.assign(always.begin(), always.end());
        for (int i = 0; i < 9; ++i) {
            parts.blocks.push_back(block());
        }
        for (const Field field : fields) {
            parts.dimensions.push_back(dimension(field, parts, most_steps));
        }
        return parts;
    }

private:
    // All clauses, most of them, half of them.
    Block block() {
        Block block;
        const std::size_t kind = dice_.below(3);
        for (std::uint64_t& word : block.words) {
            word = kind == 0   ? ~std::uint64_t{0}
                   : kind == 1 ? dice_.number() | dice_.number() | dice_.number()
                               : dice_.number();
        }
        return block;
    }

    std::uint64_t number_of(Field field) {
        RowNumbers numbers;
        const RowMask rows = burst_.columns().gather(field, ~RowMask{0}, numbers);
        const std::size_t row = dice_.below(kMaxBurst);
        return has_row(rows, row) && dice_.below(4) != 0 ? numbers[row] : dice_.number();
    }
    VersionedAddress address_of(Field field) {
        const std::size_t row = dice_.below(kMaxBurst);
        if (has_row(burst_.columns().present_rows(field), row)) {
            return burst_.columns().address(field, row);
        }
        return {dice_.below(2) == 0 ? IpVersion::V4 : IpVersion::V6, {}};
    }

    template <typename Key>
    static std::vector<Step<Key>> steps(const std::set<Key>& firsts, Dice& dice, std::size_t rows) {
        std::vector<Step<Key>> steps;
        for (const Key first : firsts) {
            steps.push_back({first, static_cast<std::uint32_t>(dice.below(rows))});
        }
        return steps;
    }

    DimensionParts dimension(Field field, const ClassifierParts& parts, std::size_t most_steps) {
        const std::size_t blocks = blocks_for(parts.rule_of.size());
        const std::size_t rows = 1 + dice_.below(6);
        DimensionParts out{.field = field};
        out.absent_row = static_cast<std::uint32_t>(dice_.below(rows));
        const std::uint64_t all = (std::uint64_t{1} << blocks) - 1;
        out.used = {(dice_.number() | dice_.number()) & all};
        for (std::size_t i = 0; i < rows; ++i) {
            out.open.push_back((dice_.number() | dice_.number() | dice_.number()) & out.used[0]);
            for (int bits = std::popcount(out.open.back()); bits > 0; --bits) {
                out.references.push_back(
                    static_cast<std::uint32_t>(dice_.below(parts.blocks.size())));
            }
        }
        const std::size_t count = dice_.below(most_steps);
        if (row_of(field).kind == FieldKind::Address) {
            add_address_steps(out, count, rows);
            return out;
        }
        std::set<std::uint64_t> firsts{0};
        const std::uint64_t most = row_of(field).max;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t first = number_of(field) + dice_.below(3) - 1;
            firsts.insert(most == UINT64_MAX ? first : first % (most + 1));
        }
        out.steps = steps(firsts, dice_, rows);
        return out;
    }

    void add_address_steps(DimensionParts& to, std::size_t count, std::size_t rows) {
        std::set<std::uint64_t> v4{0};
        std::set<Wide> v6{0};
        const bool networks = dice_.below(2) == 0;
        for (std::size_t i = 0; i < count; ++i) {
            const VersionedAddress address = address_of(to.field);
            if (dice_.below(3) == 0 || address.version == IpVersion::V4) {
                v4.insert((v4_key(address.address) +
                           (dice_.number() >> (32 + dice_.below(32))) * dice_.below(2)) &
                          UINT32_MAX);
                continue;
            }
            const Wide key = v6_key(address.address) + dice_.below(3) - 1 +
                             (Wide{dice_.number() >> dice_.below(64)} << 64) * dice_.below(2);
            v6.insert(networks ? key >> 64 << 64 : key);
        }
        to.steps = steps(v4, dice_, rows);
        to.v6_steps = steps(v6, dice_, rows);
    }

    Dice& dice_;
    const RandomBurst& burst_;
};

// By rule, packet by packet.
std::vector<RuleMatch> expected(const ClassifierParts& parts, const RandomBurst& burst,
                                RowMask rows) {
    std::vector<RuleMatch> by_rule(kRules);
    for_each_row(rows, [&](std::size_t row) {
        const PacketHeaders& headers = burst.columns().headers(row);
        const ByteView frame = burst.frames().frame(row).bytes;
        for (const std::uint32_t rule : test::reference_rules(parts, headers, frame)) {
            by_rule[rule].rule = rule;
            by_rule[rule].rows |= row_bit(row);
        }
    });
    std::erase_if(by_rule, [](const RuleMatch& one) { return one.rows == 0; });
    return by_rule;
}

void expect_matches(const Classifier& classifier, const RandomBurst& burst, RowMask rows,
                    const std::vector<RuleMatch>& wanted) {
    static RuleMatches matches;
    classifier.match_headers(burst.columns(), rows, matches);
    EXPECT_EQ(std::vector(matches.matched().begin(), matches.matched().end()), wanted);
    EXPECT_TRUE(matches.pending().empty());
    EXPECT_EQ(matches.pending_rows(), 0U);
}

// Over these fields, by clause and by index, with and without tables; some rows left out.
void check(Dice& dice, std::size_t clauses, const std::vector<Field>& fields,
           std::size_t most_steps) {
    RandomBurst burst{dice};
    RandomClauses random{dice, burst};
    const ClassifierParts parts = random.make(clauses, fields, most_steps);
    ASSERT_TRUE(are_sound(parts, kRules));
    Classifier classifier{parts};
    const RowMask rows = burst.columns().well_formed() &
                         (dice.below(4) == 0 ? static_cast<RowMask>(dice.number()) : ~RowMask{0});
    const std::vector<RuleMatch> wanted = expected(parts, burst, rows);
    classifier.choose(Classifier::Way::ByIndex);
    ASSERT_FALSE(classifier.is_by_clause());
    {
        SCOPED_TRACE("by index");
        expect_matches(classifier, burst, rows, wanted);
    }
    {
        SCOPED_TRACE("with slim look-ups");
        expect_matches(Classifier{parts, Lookups::Slim}, burst, rows, wanted);
    }
    classifier.choose(Classifier::Way::ByClause);
    if (clauses <= ClauseProgram::kMaxProgramClauses) {
        SCOPED_TRACE("by clause");
        ASSERT_TRUE(classifier.is_by_clause());
        expect_matches(classifier, burst, rows, wanted);
    }
}

class ClassifyColumns : public testing::Test {
protected:
    ClassifyColumns() : seed_{seed_of_run()}, dice_{seed_} {}
    // SLUICE_TEST_SEED=N repeats a run.
    static std::uint64_t seed_of_run() {
        const char* const given = std::getenv("SLUICE_TEST_SEED");
        return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
    }
    std::uint64_t seed_;
    Dice dice_;
};

TEST_F(ClassifyColumns, MatchesEveryFieldAsOnePacketAtATime) {
    for (const FieldRow& row : kFields) {
        SCOPED_TRACE(std::string{row.name} + ", seed " + std::to_string(seed_));
        for (const std::size_t steps : {2, 6, 60, 1500}) {
            for (int round = 0; round < 4 && !HasFailure(); ++round) {
                check(dice_, 1 + dice_.below(20), {row.field}, steps);
            }
        }
    }
}

TEST_F(ClassifyColumns, MatchesManyFieldsTogether) {
    SCOPED_TRACE("seed " + std::to_string(seed_));
    for (int round = 0; round < test::rounds(400) && !HasFailure(); ++round) {
        std::vector<Field> fields;
        for (std::size_t i = dice_.below(4); i < kFieldCount; i += 1 + dice_.below(9)) {
            fields.push_back(static_cast<Field>(i));
        }
        check(dice_, dice_.below(round % 8 == 0 ? 1500 : 90) + 1, fields,
              dice_.below(6) == 0 ? 200 : 8);
    }
}

TEST_F(ClassifyColumns, LooksUpLargeLists) {
    SCOPED_TRACE("seed " + std::to_string(seed_));
    for (int round = 0; round < 3 && !HasFailure(); ++round) {
        check(dice_, 8, {Field::IpSrc, Field::IpDst}, 30'000);
    }
}

// A rule set without conditions, and none at all.
TEST_F(ClassifyColumns, KnowsRulesThatAlwaysMatch) {
    const RandomBurst burst{dice_};
    const RowMask rows = burst.columns().well_formed();
    const Classifier classifier{{.always = {0, 3, 199}}};
    EXPECT_TRUE(classifier.is_by_clause());
    expect_matches(classifier, burst, rows, {{0, rows}, {3, rows}, {199, rows}});
    expect_matches(classifier, burst, 0, {});
    expect_matches(Classifier{}, burst, rows, {});
}

// What the estimate chooses: few clauses go by clause, very many by the index.
TEST_F(ClassifyColumns, ChoosesTheWayByTheSizeOfTheRules) {
    const RandomBurst burst{dice_};
    RandomClauses random{dice_, burst};
    const Classifier few{random.make(10, {Field::IpProto, Field::L4Dport}, 6)};
    const Classifier many{random.make(20'000, {Field::IpProto, Field::L4Dport}, 6)};
    EXPECT_TRUE(few.is_by_clause());
    EXPECT_FALSE(many.is_by_clause());
}

}  // namespace
}  // namespace sluice::classify_columns_test
