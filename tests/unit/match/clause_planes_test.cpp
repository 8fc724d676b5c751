#include "lib/match/address_key.hpp"
#include "lib/match/classifier.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>
#include <vector>

// Bursts against parts of every size, and a clause looked at by itself as the judge.
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
        for (const Field field : kAsked) {
            if (below(10) != 0) {
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

    template <typename Key>
    std::vector<Step<Key>> steps(unsigned width, std::size_t rows) {
        std::set<Key> firsts{0};
        for (std::size_t i = 0; i < 2 * rows; ++i) {
            const Key key =
                (static_cast<Key>(random_()) << (4 * sizeof(Key))) ^ static_cast<Key>(random_());
            firsts.insert(key >> (8 * sizeof(Key) - width));
        }
        std::vector<Step<Key>> steps;
        for (const Key first : firsts) {
            steps.push_back({first, static_cast<std::uint32_t>(below(rows))});
        }
        return steps;
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
        const bool address = row_of(field).kind == FieldKind::Address;
        out.steps = steps<std::uint64_t>(address ? kV4Bits : key_bits(field), rows);
        if (address) {
            out.v6_steps = steps<Wide>(kV6Bits, rows);
        }
        return out;
    }

    std::mt19937_64 random_;
};

template <typename Key>
std::uint32_t row_by_looking(const std::vector<Step<Key>>& steps, Key key) {
    std::uint32_t row = 0;
    for (const Step<Key>& step : steps) {
        row = step.first <= key ? step.row : row;
    }
    return row;
}

std::uint32_t row_of_headers(const DimensionParts& dimension, const PacketHeaders& headers) {
    if (!headers.fields.has(dimension.field)) {
        return dimension.absent_row;
    }
    if (row_of(dimension.field).kind != FieldKind::Address) {
        return row_by_looking(dimension.steps, read_number(dimension.field, headers, {}));
    }
    return headers.ip_version == IpVersion::V4
               ? row_by_looking(dimension.steps, v4_key(headers.src))
               : row_by_looking(dimension.v6_steps, v6_key(headers.src));
}

// The clauses of a block that a row satisfies; the references before them are counted one by one.
Block satisfied(const ClassifierParts& parts, const DimensionParts& dimension, std::size_t row,
                std::size_t block) {
    const std::size_t word = row * dimension.used.size() + block / 64;
    if ((dimension.used[block / 64] >> (block % 64) & 1) == 0) {
        return kFullBlock;
    }
    std::size_t reference = 0;
    for (std::size_t i = 0; i < word; ++i) {
        reference += static_cast<std::size_t>(std::popcount(dimension.open[i]));
    }
    for (std::size_t i = 0; i < block % 64; ++i) {
        reference += dimension.open[word] >> i & 1;
    }
    const bool open = (dimension.open[word] >> (block % 64) & 1) != 0;
    return open ? parts.blocks[dimension.references[reference]] : Block{};
}

std::vector<std::uint32_t> rules_by_looking(const ClassifierParts& parts,
                                            const PacketHeaders& headers) {
    std::vector<char> holds(parts.rule_of.size(), 1);
    for (const DimensionParts& dimension : parts.dimensions) {
        const std::uint32_t row = row_of_headers(dimension, headers);
        Block of_block;
        for (std::size_t clause = 0; clause < holds.size(); ++clause) {
            if (clause % kBlockBits == 0) {
                of_block = satisfied(parts, dimension, row, clause / kBlockBits);
            }
            const std::uint64_t word = of_block.words[clause % kBlockBits / 64];
            holds[clause] = holds[clause] != 0 && (word >> (clause % 64) & 1) != 0 ? 1 : 0;
        }
    }
    std::set<std::uint32_t> rules(parts.always.begin(), parts.always.end());
    for (std::size_t clause = 0; clause < holds.size(); ++clause) {
        if (holds[clause] != 0) {
            rules.insert(parts.rule_of[clause]);
        }
    }
    return {rules.begin(), rules.end()};
}

struct Size {
    std::size_t clauses;
    std::size_t fields;
    std::size_t rows;
    std::size_t sets;
};

// One block and two, which are ANDed whole; more, one word of summary and two; few planes and
// many; clauses that nothing narrows.
TEST(ClausePlanes, FindWhatEachClauseByItselfSays) {
    const Size sizes[] = {{1, 1, 2, 20},          {500, 6, 5, 20},    {1000, 3, 40, 20},
                          {1024, 6, 3, 20},       {1025, 4, 70, 10},  {5000, 1, 9, 10},
                          {9000, 6, 90, 10},      {40'000, 2, 50, 4}, {40'000, 6, 20, 4},
                          {kMaxClauses, 3, 4, 2}, {700, 0, 0, 2}};
    FoundRules found;
    std::size_t matched = 0;
    for (const Size& size : sizes) {
        for (std::size_t set = 0; set < size.sets; ++set) {
            Dice dice{size.clauses * 100 + set};
            ClassifierParts parts = dice.parts(size.clauses, size.fields, size.rows);
            if (set % 3 == 2) {
                parts.always = {3, 7};
            }
            ASSERT_TRUE(are_sound(parts, kRules));
            const Classifier classifier{parts};
            std::vector<PacketHeaders> packet_headers(1 + dice.below(kMaxSubjects));
            std::vector<Subject> subjects;
            for (PacketHeaders& headers : packet_headers) {
                headers = dice.packet_headers();
                subjects.push_back({&headers, {}});
            }
            classifier.match(subjects, nullptr, found);
            ASSERT_EQ(found.packets(), packet_headers.size());
            for (std::size_t i = 0; i < packet_headers.size(); ++i) {
                const std::vector<std::uint32_t> got{found.of(i).begin(), found.of(i).end()};
                ASSERT_EQ(got, rules_by_looking(parts, packet_headers[i]))
                    << size.clauses << " clauses of " << size.fields << " fields, set " << set;
                matched += got.size();
            }
        }
    }
    EXPECT_GT(matched, 10'000U);
}

}  // namespace
}  // namespace sluice::clause_planes_test
