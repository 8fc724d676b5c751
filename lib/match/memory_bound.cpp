#include "lib/match/memory_bound.hpp"

#include "lib/match/clause_planes.hpp"
#include "lib/match/clause_program.hpp"
#include "lib/match/dimension.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// LineMemory rounds up to a page, or two, of this size.
constexpr std::uint64_t kHugePages = 4 * kMiB;

// By step. Of IPv4 addresses a line, or a part of a small table; of longer keys tables that divide
// off one step each, as deep as a key has bits for that. And thrice the note of a table to be
// filled.
constexpr std::uint64_t kV4StepBytes = 160;
constexpr std::uint64_t kDeepStepBytes = 520;

// A root of up to 4 MiB, and tables and lines, all counted before memory is taken.
std::uint64_t range_bound(std::uint64_t steps, std::uint64_t bytes_for_step) {
    const std::uint64_t root = steps < 512 ? 64 << 10 : steps < 65'536 ? 2 * kMiB : 5 * kMiB;
    return root + bytes_for_step * steps + (steps < 512 ? 0 : kHugePages);
}

// Records of a few bytes for each step, and tables with a slot for each eight; built in a vector,
// then copied to where it stays. The root is a MiB.
std::uint64_t packed_bound(std::uint64_t steps, std::uint64_t bytes_for_step) {
    return (kGrowth + 1) * (kMiB + bytes_for_step * steps) + 2 * kHugePages;
}

// Few rows: of which a byte tells one. Packed records do, where there are many steps.
std::uint64_t v4_bound(std::uint64_t steps, bool few_rows) {
    return few_rows && steps >= kManyPackedSteps ? packed_bound(steps, 24)
                                                 : range_bound(steps, kV4StepBytes);
}
std::uint64_t v6_bound(std::uint64_t steps, bool few_rows) {
    return few_rows && steps >= kManyPackedSteps ? packed_bound(steps, 40)
                                                 : range_bound(steps, kDeepStepBytes);
}

std::uint64_t lookup_bound(const DimensionParts& dimension, std::uint64_t rows) {
    const std::uint64_t steps = dimension.steps.size();
    if (row_of(dimension.field).kind == FieldKind::Address) {
        return v4_bound(steps, rows <= 256) + v6_bound(dimension.v6_steps.size(), rows <= 256);
    }
    return key_bits(dimension.field) <= kMaxTableBits ? kMiB : range_bound(steps, kDeepStepBytes);
}

// A block in the pool, in the vector that it is taken to and in the index of those known.
constexpr std::uint64_t kPooledBlock = kGrowth * sizeof(Block) + 160;

std::uint64_t plane_bound(std::uint64_t rows, std::uint64_t references, std::uint64_t summary) {
    return kGrowth * sizeof(std::uint32_t) * (references + 3 * rows * summary);
}

struct Planes {
    std::uint64_t bytes = 0;
    std::uint64_t most_rows = 1;
};

// The bound of planes once ClausePlanes has multiplied out the two smallest, again and again.
Planes planes_bound(const ClassifierParts& parts) {
    const std::uint64_t blocks = std::max<std::uint64_t>(blocks_for(parts.rule_of.size()), 1);
    const std::uint64_t summary = std::max<std::uint64_t>(summary_for(parts.rule_of.size()), 1);
    const std::uint64_t most = ClausePlanes::most_joined_rows(blocks);
    Planes planes;
    std::vector<std::uint64_t> rows;
    for (const DimensionParts& dimension : parts.dimensions) {
        rows.push_back(std::max<std::uint64_t>(dimension.open.size() / summary, 1));
        planes.bytes += plane_bound(rows.back(), dimension.references.size(), summary);
    }
    // The last block, which is cut, and blocks that stand at several places take one more each.
    std::uint64_t pooled = 2 * parts.blocks.size() + blocks;
    std::sort(rows.begin(), rows.end(), std::greater<>{});
    while (rows.size() >= 2 && rows.end()[-1] * rows.end()[-2] <= most) {
        const std::uint64_t product = rows.end()[-1] * rows.end()[-2];
        rows.resize(rows.size() - 2);
        rows.insert(std::upper_bound(rows.begin(), rows.end(), product, std::greater<>{}), product);
        planes.bytes += plane_bound(product, product * blocks, summary);
        pooled += product * blocks;
    }
    planes.bytes += pooled * kPooledBlock;
    std::uint64_t all_rows = 0;
    for (const std::uint64_t each : rows) {
        all_rows += each;
        planes.most_rows = std::max(planes.most_rows, each);
    }
    if (blocks <= 2) {  // dense planes
        planes.bytes += kGrowth * sizeof(Block) *
                        std::min<std::uint64_t>(all_rows * blocks, std::uint64_t{1} << 15);
    }
    return planes;
}

// Clause by clause: what a dimension's clauses hold in each of its rows, and a byte for each row of
// a test that is looked up.
std::uint64_t program_bound(const ClassifierParts& parts, std::uint64_t most_rows) {
    const std::uint64_t clauses = parts.rule_of.size();
    if (clauses > ClauseProgram::kMaxProgramClauses) {
        return 0;
    }
    const std::uint64_t tests =
        std::min<std::uint64_t>(ClauseProgram::kMaxTests, clauses * parts.dimensions.size());
    std::uint64_t rows = 0;
    for (const DimensionParts& dimension : parts.dimensions) {
        rows = std::max<std::uint64_t>(rows, dimension.open.size());
    }
    return tests * (1024 + most_rows) + 32 * rows + clauses * (rows / 8 + 256) + kMiB;
}

// A clause of a test is in a tree of blocks, in a list that is sorted and in one that stays.
std::uint64_t texts_bound(const TextParts& parts) {
    constexpr std::uint64_t kTerm = 1024;
    constexpr std::uint64_t kEntry = 4 * sizeof(TextEntry);
    std::uint64_t bytes =
        parts.terms.size() * kTerm + parts.entries.size() * kEntry + parts.tests.size() * 64;
    for (const TextEntry& entry : parts.entries) {
        bytes += 5 * entry.text.size();
    }
    for (const TextTestParts& test : parts.tests) {
        bytes += test.entries.size() * 40;
    }
    for (const TextDatabaseParts& database : parts.databases) {
        bytes += 2 * database.bytes.size() + 8 * database.entries.size();
    }
    return bytes;
}

}  // namespace

std::uint64_t memory_bound(const ClassifierParts& parts) {
    const std::uint64_t summary = std::max<std::uint64_t>(summary_for(parts.rule_of.size()), 1);
    const Planes planes = planes_bound(parts);
    std::uint64_t bytes =
        planes.bytes + program_bound(parts, planes.most_rows) + texts_bound(parts.texts) + kMiB;
    for (const DimensionParts& dimension : parts.dimensions) {
        bytes += sizeof(Dimension) + lookup_bound(dimension, dimension.open.size() / summary);
    }
    return bytes + blocks_for(parts.rule_of.size()) * sizeof(Block) * (kTextFieldCount + 2);
}

std::uint64_t scratch_bound(const TextParts& parts) {
    if (parts.entries.empty()) {
        return 4096;
    }
    std::uint64_t database = 0;
    for (const TextDatabaseParts& each : parts.databases) {
        database += each.bytes.size();
    }
    return kMiB + 2 * database + parts.tests.size() * 16 + parts.entries.size() * 16 +
           kMaxBlocks * 3 * sizeof(Block);
}

std::uint64_t memory_bound(const AddressSetParts& parts) {
    const std::uint64_t steps = parts.steps.size();
    const std::uint64_t v6_steps = parts.v6_steps.size();
    return sizeof(AddressSet) + 2 * steps * sizeof(parts.steps.front()) +
           2 * v6_steps * sizeof(parts.v6_steps.front()) + v4_bound(steps, true) +
           v6_bound(v6_steps, true);
}

std::uint64_t memory_bound_of_tables(std::uint64_t v4_steps, std::uint64_t v6_steps) {
    return std::max(v4_bound(v4_steps, false), v4_bound(v4_steps, true)) +
           std::max(v6_bound(v6_steps, false), v6_bound(v6_steps, true));
}

// By their number alone: they may be unsound yet.
std::uint64_t memory_bound(const GeoParts& parts) {
    return v4_bound(parts.steps.size(), false) + v6_bound(parts.v6_steps.size(), false);
}

// A table at most half full and a power of two, and the names, which grow by doubling; before that,
// a tree of the names while they are checked.
std::uint64_t memory_bound(const std::vector<SuffixRule>& rules) {
    constexpr std::uint64_t kSlot = 12;
    constexpr std::uint64_t kNode = 64;
    std::uint64_t bytes = (4 * kSlot + kNode) * rules.size() + 256;
    for (const SuffixRule& rule : rules) {
        bytes += kGrowth * (rule.name.size() + 1);
    }
    return bytes;
}

}  // namespace sluice
