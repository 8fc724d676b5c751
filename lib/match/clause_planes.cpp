#include "lib/match/clause_planes.hpp"

#include <algorithm>
#include <bit>

#include <immintrin.h>

namespace sluice {
namespace {

// Bounds of planes that are multiplied out: rows, and rows times blocks.
constexpr std::size_t kMaxJoinedRows = 4096;
constexpr std::size_t kMaxJoinedWords = std::size_t{1} << 16;

static_assert(kMaxDifferentBlocks + kFieldCount * kMaxJoinedWords + 2 < BlockReference::kMostBlocks,
              "every block has a number");

// 64: there is none. (std::countr_zero() branches on that.)
[[nodiscard]] unsigned lowest(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(_tzcnt_u64(bits));
}

}  // namespace

ClausePlanes::ClausePlanes(const ClassifierParts& parts)
    : clauses_{parts.rule_of.size()}, summary_{summary_for(clauses_)} {
    BlockPool pool;
    list_planes(parts, pool);
    list_questions(pool);
    dense_ = DensePlanes{planes_, clauses_, pool};
    blocks_ = pool.take();
}

// Multiplies the two smallest planes out as long as that stays small.
void ClausePlanes::list_planes(const ClassifierParts& parts, BlockPool& pool) {
    for (std::uint32_t i = 0; i < parts.dimensions.size(); ++i) {
        planes_.emplace_back(i, parts, pool);
    }
    const auto has_more_rows = [](const BitPlane& a, const BitPlane& b) {
        return a.rows() > b.rows();
    };
    const std::size_t most = most_joined_rows(blocks_for(clauses_));
    for (;;) {
        std::stable_sort(planes_.begin(), planes_.end(), has_more_rows);
        const std::size_t last = planes_.size();
        if (last < 2 || planes_[last - 1].rows() * planes_[last - 2].rows() > most) {
            break;
        }
        BitPlane product{planes_[last - 2], planes_[last - 1], pool};
        planes_.erase(planes_.end() - 2, planes_.end());
        planes_.push_back(std::move(product));
    }
}

std::size_t ClausePlanes::most_joined_rows(std::size_t blocks) noexcept {
    return std::min(kMaxJoinedRows, kMaxJoinedWords / std::max<std::size_t>(blocks, 1));
}

void ClausePlanes::list_questions(BlockPool& pool) {
    blocks_there_are_.resize(summary_);
    for (std::size_t block = 0; block < blocks_for(clauses_); ++block) {
        blocks_there_are_[block / 64] |= std::uint64_t{1} << (block % 64);
        const Block all = clauses_of(block, clauses_);
        const BlockReference otherwise{pool.add(all), all};
        for (const BitPlane& plane : planes_) {
            questions_.push_back(plane.asks(block) ? Question{plane.before(block), ~0U,
                                                              std::bit_cast<BlockReference>(0U)}
                                                   : Question{plane.before(block), 0, otherwise});
        }
    }
}

std::size_t ClausePlanes::bytes() const noexcept {
    std::size_t bytes =
        blocks_.size() * sizeof(Block) + questions_.size() * sizeof(Question) + dense_.bytes();
    for (const BitPlane& plane : planes_) {
        bytes += plane.bytes();
    }
    return bytes;
}

void ClausePlanes::list_open(Search& search) const noexcept {
    const std::size_t packets = search.packets;
    std::array<std::array<std::uint64_t, kMaxBurst>, kMaxSummary> summaries;
    for (std::size_t word = 0; word < summary_; ++word) {
        std::array<std::uint64_t, kMaxBurst>& open = summaries[word];
        open.fill(blocks_there_are_[word]);
        for (std::size_t i = 0; i < planes_.size(); ++i) {
            const BitPlane::Reader plane = planes_[i].reader(word);
            const std::uint32_t* const rows = search.rows[i].data();
            const std::uint32_t** const to = search.row_words[word][i].data();
            for (std::size_t packet = 0; packet < packets; ++packet) {
                const std::uint32_t* const at = plane.at(rows[packet]);
                to[packet] = at;
                open[packet] &= BitPlane::RowWord{at}.open();
            }
        }
    }
    OpenBlocks::Adder open{search.open};
    for (std::size_t packet = 0; packet < packets; ++packet) {
        for (std::size_t word = 0; word < summary_; ++word) {
            open.add(packet, word, summaries[word][packet]);
        }
    }
    open.done();
}

struct ClausePlanes::Narrowed {
    static constexpr std::size_t kMost = 128;  // open blocks
    struct Word {
        std::uint16_t open;  // number
        std::uint16_t word;
    };

    // Only as many entries as are read are written.
    std::array<BlockReference, kMost * kFieldCount> references;  // by open block, by plane
    std::array<Word, kMost * kBlockWords + 1> words;             // that may not be zero
    std::size_t count = 0;                                       // of words
};

template <std::size_t kPlanes>
void ClausePlanes::narrow(const Search& search, std::span<const OpenBlocks::Open> open,
                          Narrowed& narrowed) const noexcept {
    const std::size_t planes = kPlanes != 0 ? kPlanes : planes_.size();
    const Question* const questions = questions_.data();
    BlockReference* reference = narrowed.references.data();
    Narrowed::Word* next = narrowed.words.data();
    std::uint16_t number = 0;
    for (const OpenBlocks::Open& one : open) {
        const Question* question = questions + one.block * planes;
        const std::uint32_t* const* row = &search.row_words[one.block / 64][0][one.packet];
        std::uint32_t words = (1U << kBlockWords) - 1;
        // Four planes or five are the rule.
#pragma GCC unroll 5
        for (std::size_t i = 0; i < planes; ++i) {
            const BlockReference asked = BitPlane::RowWord{*row}.reference(question->before);
            *reference = asked.or_else(question->otherwise, question->asks);
            words &= reference->words();
            row += kMaxBurst;
            ++question;
            ++reference;
        }
        const auto add_word = [&] {
            *next = {number, static_cast<std::uint16_t>(lowest(words))};
            next += words != 0 ? 1 : 0;
            words &= words - 1;
        };
        add_word();
        add_word();
        // With words as its argument g++ would make branches of the two before.
        // NOLINTNEXTLINE(bugprone-infinite-loop): add_word() changes them.
        while (words != 0) {
            add_word();
        }
        ++number;
    }
    narrowed.count = static_cast<std::size_t>(next - narrowed.words.data());
}

template <std::size_t kPlanes>
void ClausePlanes::find_in(const Narrowed& narrowed, std::span<const OpenBlocks::Open> open,
                           const std::uint32_t* rule_of, FoundRules::Adder& found) const noexcept {
    const std::size_t planes = kPlanes != 0 ? kPlanes : planes_.size();
    const Block* const blocks = blocks_.data();
    for (const Narrowed::Word& at : std::span{narrowed.words}.first(narrowed.count)) {
        const BlockReference* const references = &narrowed.references[at.open * planes];
        std::uint64_t satisfied = blocks[references[0].at()].words[at.word];
#pragma GCC unroll 5
        for (std::size_t i = 1; i < planes; ++i) {
            satisfied &= blocks[references[i].at()].words[at.word];
        }
        const std::size_t packet = open[at.open].packet;
        const std::uint32_t* const rules =
            rule_of + open[at.open].block * kBlockBits + at.word * std::size_t{64};
        // None or one, mostly: of none it is some other rule, which does not count.
        found.add_if(satisfied != 0, packet, rules[lowest(satisfied) % 64]);
        for (satisfied &= satisfied - 1; satisfied != 0; satisfied &= satisfied - 1) {
            found.add(packet, rules[lowest(satisfied)]);
        }
    }
}

template <std::size_t kPlanes>
void ClausePlanes::find_open(const Search& search, const std::uint32_t* rule_of,
                             FoundRules::Adder& found) const noexcept {
    Narrowed narrowed;
    for (std::span<const OpenBlocks::Open> rest = search.open.all(); !rest.empty();) {
        const auto open = rest.first(std::min(rest.size(), Narrowed::kMost));
        narrow<kPlanes>(search, open, narrowed);
        find_in<kPlanes>(narrowed, open, rule_of, found);
        rest = rest.subspan(open.size());
    }
}

void ClausePlanes::find(Search& search, const std::uint32_t* rule_of,
                        FoundRules::Adder& found) const noexcept {
    if (!dense_.empty()) {
        dense_.find(search.rows, search.packets, rule_of, found);
        return;
    }
    list_open(search);
    switch (planes_.size()) {
        case 1:
            return find_open<1>(search, rule_of, found);
        case 2:
            return find_open<2>(search, rule_of, found);
        case 3:
            return find_open<3>(search, rule_of, found);
        case 4:
            return find_open<4>(search, rule_of, found);
        case 5:
            return find_open<5>(search, rule_of, found);
        default:
            return find_open<0>(search, rule_of, found);
    }
}

Block ClausePlanes::satisfied(const Search& search, OpenBlocks::Open open) const noexcept {
    Block both = clauses_of(open.block, clauses_);
    for (std::size_t i = 0; i < planes_.size(); ++i) {
        if (!planes_[i].asks(open.block)) {
            continue;
        }
        const BitPlane::RowWord row{search.row_words[open.block / 64U][i][open.packet]};
        const Block& of = blocks_[row.reference(planes_[i].before(open.block)).at()];
        for (std::size_t word = 0; word < kBlockWords; ++word) {
            both.words[word] &= of.words[word];
        }
    }
    return both;
}

}  // namespace sluice
