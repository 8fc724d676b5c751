#include "lib/match/address_key.hpp"
#include "lib/match/classifier.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/match/random_parts.hpp"
#include "tests/unit/match/reference_classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <vector>

// Bursts against parts of every size, by the index of bit sets.
namespace sluice::clause_planes_test {
namespace {

constexpr Field kAsked[] = {Field::IpSrc,   Field::IpProto, Field::IpTtl,
                            Field::L4Sport, Field::L4Dport, Field::PayloadLen};
constexpr std::size_t kRules = 300;

class Dice {
public:
    explicit Dice(std::uint64_t seed) : random_{seed} {}

    std::size_t below(std::size_t bound) { return random_() % bound; }

    // Of `clauses`, that ask `fields` of the above.
    ClassifierParts parts(std::size_t clauses, std::size_t fields, std::size_t rows) {
        ClassifierParts parts;
        for (std::size_t i = 0; i < clauses; ++i) {
            parts.rule_of.push_back(static_cast<std::uint32_t>(below(kRules)));
        }
        for (int i = 0; i < 12; ++i) {
            parts.blocks.push_back(block());
        }
        for (std::size_t i = 0; i < fields; ++i) {
            parts.dimensions.push_back(dimension(kAsked[i], parts, rows));
        }
        return parts;
    }

    PacketHeaders packet_headers() {
        PacketHeaders headers;
        const std::size_t absent = 1 + below(10 * kHeaderPartCount);  // none, mostly
        for (const Field field : kAsked) {
            if (static_cast<std::size_t>(part_of(field)) != absent) {
                headers.fields.add(field);
            }
        }
        headers.ip_version = below(3) == 0 ? IpVersion::V6 : IpVersion::V4;
        for (std::byte& byte : headers.src.bytes) {
            byte = static_cast<std::byte>(random_());
        }
        headers.proto = static_cast<std::uint8_t>(random_());
        headers.ttl = static_cast<std::uint8_t>(random_());
        headers.sport = static_cast<std::uint16_t>(random_());
        headers.dport = static_cast<std::uint16_t>(random_());
        headers.payload_len = static_cast<std::uint32_t>(random_()) >> below(32);
        return headers;
    }

private:
    // Few bits, as of networks and ports; half of them; all, as of what is not asked.
    Block block() {
        Block block;
        const std::size_t kind = below(8);
        for (std::uint64_t& word : block.words) {
            word = kind == 0 ? ~std::uint64_t{0} : kind == 1 ? random_() : 0;
        }
        for (std::size_t i = below(4); i > 0; --i) {
            const std::size_t bit = below(kBlockBits);
            block.words[bit / 64] |= std::uint64_t{1} << (bit % 64);
        }
        return block;
    }

    DimensionParts dimension(Field field, const ClassifierParts& parts, std::size_t rows) {
        const std::size_t blocks = blocks_for(parts.rule_of.size());
        DimensionParts out{.field = field};
        out.absent_row = static_cast<std::uint32_t>(below(rows));
        for (std::size_t first = 0; first < blocks; first += 64) {
            const std::uint64_t there_are = blocks - first >= 64
                                                ? ~std::uint64_t{0}
                                                : (std::uint64_t{1} << (blocks - first)) - 1;
            out.used.push_back((random_() | random_()) & there_are);
        }
        for (std::size_t i = 0; i < rows * out.used.size(); ++i) {
            out.open.push_back(random_() & random_() & out.used[i % out.used.size()]);
            for (int bits = std::popcount(out.open.back()); bits > 0; --bits) {
                out.references.push_back(static_cast<std::uint32_t>(below(parts.blocks.size())));
            }
        }
        test::add_random_steps(out, random_, 2 * rows, rows);
        return out;
    }

    std::mt19937_64 random_;
};

// The columns of the fields that are asked.
void put(const PacketHeaders& headers, std::size_t row, HeaderColumns& columns) {
    for (const Field field : kAsked) {
        columns.add_present(part_of(field), headers.fields.has(field) ? row_bit(row) : 0);
    }
    columns.v6 |= headers.ip_version == IpVersion::V6 ? row_bit(row) : 0;
    columns.src6[row] = headers.src;
    columns.src_host[row] = static_cast<std::uint32_t>(v4_key(headers.src));
    columns.proto[row] = headers.proto;
    columns.ttl[row] = headers.ttl;
    columns.sport[row] = headers.sport;
    columns.dport[row] = headers.dport;
    columns.payload_len[row] = headers.payload_len;
}

std::vector<std::set<std::uint32_t>> by_packet(std::span<const RuleMatch> matched,
                                               std::size_t packets) {
    std::vector<std::set<std::uint32_t>> rules(packets);
    for (const RuleMatch& one : matched) {
        for_each_row(one.rows, [&](std::size_t row) { rules.at(row).insert(one.rule); });
    }
    return rules;
}

struct Size {
    std::size_t clauses;
    std::size_t fields;
    std::size_t rows;
    std::size_t sets;
};

// One block and two, which are ANDed whole; more, one word of summary and two; few planes and
// many; clauses that nothing narrows.
TEST(ClausePlanes, FindWhatTheReferenceFinds) {
    const Size sizes[] = {{1, 1, 2, 20},          {500, 6, 5, 20},    {1000, 3, 40, 20},
                          {1024, 6, 3, 20},       {1025, 4, 70, 10},  {5000, 1, 9, 10},
                          {9000, 6, 90, 10},      {40'000, 2, 50, 4}, {40'000, 6, 20, 4},
                          {kMaxClauses, 3, 4, 2}, {700, 0, 0, 2}};
    RuleMatches matches;
    std::size_t matched = 0;
    // All, or three of each size: of each third set there are clauses that always match.
    const auto most_sets = static_cast<std::size_t>(std::max(test::rounds(24), 3));
    for (const Size& size : sizes) {
        for (std::size_t set = 0; set < std::min(size.sets, most_sets); ++set) {
            Dice dice{size.clauses * 100 + set};
            ClassifierParts parts = dice.parts(size.clauses, size.fields, size.rows);
            if (set % 3 == 2) {
                parts.always = {3, 7};
            }
            ASSERT_TRUE(are_sound(parts, kRules));
            Classifier classifier{parts};
            classifier.choose(Classifier::Way::ByIndex);
            const std::size_t packets = 1 + dice.below(kMaxBurst);
            HeaderColumns columns;
            std::vector<std::set<std::uint32_t>> wanted;
            for (std::size_t row = 0; row < packets; ++row) {
                const PacketHeaders headers = dice.packet_headers();
                put(headers, row, columns);
                wanted.push_back(test::reference_rules(parts, headers, {}));
                matched += wanted.back().size();
            }
            classifier.match_headers(columns, first_rows(packets), matches);
            EXPECT_EQ(by_packet(matches.matched(), packets), wanted)
                << size.clauses << " clauses of " << size.fields << " fields, set " << set;
        }
    }
    EXPECT_GT(matched, 10'000U);
}

}  // namespace
}  // namespace sluice::clause_planes_test
