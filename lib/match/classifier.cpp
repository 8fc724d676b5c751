#include "lib/match/classifier.hpp"

#include <algorithm>
#include <bit>

#include <immintrin.h>

namespace sluice {
namespace {

// What planes may grow to when they are multiplied out: rows, and rows times blocks.
constexpr std::size_t kMaxJoinedRows = 4096;
constexpr std::size_t kMaxJoinedWords = std::size_t{1} << 16;

constexpr Block kFullBlock = [] {
    Block block;
    block.words.fill(~std::uint64_t{0});
    return block;
}();

// One bit per word.
std::uint32_t zero_words(__m256i words) noexcept {
    const __m256i zero = _mm256_cmpeq_epi64(words, _mm256_setzero_si256());
    return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(zero)));
}

}  // namespace

Classifier::Classifier(ClassifierParts parts, Lookups lookups)
    : parts_{std::move(parts)}, summary_{summary_for(parts_.rule_of.size())} {
    for (const DimensionParts& dimension : parts_.dimensions) {
        dimensions_.emplace_back(dimension, lookups);
    }
    list_planes();
    list_blocks();
    texts_ = TextMatcher{parts_.texts, parts_.rule_of.size()};
}

void Classifier::make_fast() {
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        dimensions_[i] = Dimension{parts_.dimensions[i], Lookups::Fast};
    }
    set_strides();
}

void Classifier::set_strides() {
    for (const BitPlane& plane : planes_) {
        for (const BitPlane::Factor& factor : plane.factors()) {
            dimensions_[factor.dimension].set_stride(factor.stride);
        }
    }
}

// Multiplies the two smallest planes out as long as that stays small. Those of many rows come
// first: they leave the least of a block.
void Classifier::list_planes() {
    BlockPool pool;
    for (std::uint32_t i = 0; i < parts_.dimensions.size(); ++i) {
        planes_.emplace_back(i, parts_.dimensions[i], parts_.blocks, pool);
    }
    const auto has_more_rows = [](const BitPlane& a, const BitPlane& b) {
        return a.rows() > b.rows();
    };
    const std::size_t most =
        std::min(kMaxJoinedRows,
                 kMaxJoinedWords / std::max<std::size_t>(blocks_for(parts_.rule_of.size()), 1));
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
    set_strides();
    blocks_ = pool.take();
}

// Which planes each block asks, and which clauses the last block has.
void Classifier::list_blocks() {
    const std::size_t blocks = blocks_for(parts_.rule_of.size());
    blocks_there_are_.resize(summary_);
    asked_from_.push_back(0);
    for (std::size_t block = 0; block < blocks; ++block) {
        blocks_there_are_[block / 64] |= std::uint64_t{1} << (block % 64);
        for (std::size_t i = 0; i < planes_.size(); ++i) {
            if (planes_[i].asks(block)) {
                asked_.push_back(static_cast<std::uint8_t>(i));
            }
        }
        asked_from_.push_back(static_cast<std::uint32_t>(asked_.size()));
    }
    for (std::size_t clause = (blocks - 1) * kBlockBits; clause < parts_.rule_of.size(); ++clause) {
        last_.words[clause % kBlockBits / 64] |= std::uint64_t{1} << (clause % 64);
    }
}

std::size_t Classifier::bytes() const noexcept {
    std::size_t bytes = (parts_.blocks.size() + blocks_.size()) * sizeof(Block) +
                        (parts_.rule_of.size() + parts_.always.size()) * sizeof(std::uint32_t);
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        const DimensionParts& dimension = parts_.dimensions[i];
        bytes += dimensions_[i].bytes(dimension) + dimension.open.size() * sizeof(std::uint64_t) +
                 dimension.references.size() * sizeof(std::uint32_t) +
                 dimension.steps.size() * sizeof(dimension.steps.front()) +
                 dimension.v6_steps.size() * sizeof(dimension.v6_steps.front());
    }
    for (const BitPlane& plane : planes_) {
        bytes += plane.bytes();
    }
    return bytes + texts_.bytes();
}

void Classifier::find_rows(std::span<const Subject> subjects, Rows& rows) const noexcept {
    for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
        std::uint32_t* const to = rows[plane].data();
        const std::span<const BitPlane::Factor> factors = planes_[plane].factors();
        const std::uint32_t first = factors.front().dimension;
        dimensions_[first].find_rows<Dimension::To::Set>(subjects, parts_.dimensions[first], to);
        for (const BitPlane::Factor& factor : factors.subspan(1)) {
            const std::uint32_t other = factor.dimension;
            dimensions_[other].find_rows<Dimension::To::Add>(subjects, parts_.dimensions[other],
                                                             to);
        }
    }
}

void Classifier::match(std::span<const Subject> subjects, TextScratch* texts,
                       FoundRules& found) const noexcept {
    // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): as many as are read are written.
    Rows rows;
    Summaries summaries;
    OpenBlocks open;
    // NOLINTEND(cppcoreguidelines-pro-type-member-init)
    std::array<std::size_t, kMaxSubjects> ends;  // of each subject's open blocks
    if (!asks_text()) [[likely]] {
        texts = nullptr;
    }
    find_rows(subjects, rows);
    find_summaries(rows, subjects.size(), summaries);
    found.clear();
    for (std::size_t next = 0; next < subjects.size();) {
        const std::size_t first = next;
        open.clear();
        for (; next < subjects.size() && open.has_room(asked_.size()); ++next) {
            list_open(rows, summaries, next, open);
            ends[next] = open.count();
        }
        open.fetch(blocks_.data());
        for (std::size_t at = 0, number = first; number < next; ++number) {
            for (const std::uint32_t rule : parts_.always) {
                found.add(rule);
            }
            if (texts != nullptr) [[unlikely]] {
                TextMatcher::begin(*texts);
            }
            for (; at < ends[number]; ++at) {
                Block both;
                std::uint32_t words = satisfied_in(open, at, both);
                if (texts != nullptr) [[unlikely]] {
                    texts_.narrow(both, open.block(at), subjects[number], *texts);
                    words = (1U << both.words.size()) - 1;
                }
                add_rules(both, words, open.block(at), found);
            }
            found.end_packet();
        }
    }
}

void Classifier::find_summaries(const Rows& rows, std::size_t subjects,
                                Summaries& summaries) const noexcept {
    for (std::size_t word = 0; word < summary_; ++word) {
        std::array<std::uint64_t, kMaxSubjects>& open = summaries[word];
        open.fill(blocks_there_are_[word]);
        for (std::size_t i = 0; i < planes_.size(); ++i) {
            for (std::size_t number = 0; number < subjects; ++number) {
                open[number] &= planes_[i].open(rows[i][number], word);
            }
        }
    }
}

void Classifier::list_open(const Rows& rows, const Summaries& summaries, std::size_t number,
                           OpenBlocks& open) const noexcept {
    const BitPlane* const planes = planes_.data();
    for (std::size_t word = 0; word < summary_; ++word) {
        for (std::uint64_t bits = summaries[word][number]; bits != 0; bits &= bits - 1) {
            const std::size_t block = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
            const std::uint8_t* plane = asked_.data() + asked_from_[block];
            const std::uint8_t* const end = asked_.data() + asked_from_[block + 1];
            const std::uint32_t** row = open.add(block, static_cast<std::size_t>(end - plane));
            for (; plane != end; ++plane) {
                *row++ = planes[*plane].reference(rows[*plane][number], block);
            }
        }
    }
}

// The clauses of an open block whose fields have what they ask. Gives a bit for each word that is
// not zero: most are, and which are not is as random as the packets.
std::uint32_t Classifier::satisfied_in(const OpenBlocks& open, std::size_t at,
                                       Block& both) const noexcept {
    const auto halves = [](const Block& block) {
        return reinterpret_cast<const __m256i*>(block.words.data());
    };
    const Block& there_are = open.block(at) + 2 == asked_from_.size() ? last_ : kFullBlock;
    __m256i low = _mm256_load_si256(halves(there_are));
    __m256i high = _mm256_load_si256(halves(there_are) + 1);
    for (const Block* satisfied : open.rows(at)) {
        low = _mm256_and_si256(low, _mm256_load_si256(halves(*satisfied)));
        high = _mm256_and_si256(high, _mm256_load_si256(halves(*satisfied) + 1));
    }
    auto* const to = reinterpret_cast<__m256i*>(both.words.data());
    _mm256_store_si256(to, low);
    _mm256_store_si256(to + 1, high);
    return ~(zero_words(low) | zero_words(high) << 4) & 0xFF;
}

void Classifier::add_rules(const Block& satisfied, std::uint32_t words, std::size_t block,
                           FoundRules& found) const noexcept {
    const std::uint32_t* rules = &parts_.rule_of[block * kBlockBits];
    for (; words != 0; words &= words - 1) {
        const auto w = static_cast<unsigned>(std::countr_zero(words));
        for (std::uint64_t bits = satisfied.words[w]; bits != 0; bits &= bits - 1) {
            found.add(rules[w * 64 + static_cast<unsigned>(std::countr_zero(bits))]);
        }
    }
}

}  // namespace sluice
