#include "lib/match/dense_planes.hpp"

#include <immintrin.h>

namespace sluice {
namespace {

// Blocks that have been ANDed, in registers.
template <std::size_t kPerRow>
class Both {
public:
    explicit Both(const Block* row) noexcept {
        for (std::size_t i = 0; i < kHalves; ++i) {
            halves_[i] = _mm256_load_si256(half(row, i));
        }
    }
    void narrow(const Block* row) noexcept {
        for (std::size_t i = 0; i < kHalves; ++i) {
            halves_[i] = _mm256_and_si256(halves_[i], _mm256_load_si256(half(row, i)));
        }
    }
    // Writes them, and gives a bit for each word that is not zero.
    std::uint32_t write(std::uint64_t* to) const noexcept {
        std::uint32_t zero = 0;
        for (std::size_t i = 0; i < kHalves; ++i) {
            _mm256_store_si256(reinterpret_cast<__m256i*>(to) + i, halves_[i]);
            const __m256i is_zero = _mm256_cmpeq_epi64(halves_[i], _mm256_setzero_si256());
            zero |= static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(is_zero)))
                    << 4 * i;
        }
        return ~zero & ((1U << kBlockWords * kPerRow) - 1);
    }

private:
    static constexpr std::size_t kHalves = 2 * kPerRow;
    static const __m256i* half(const Block* row, std::size_t number) noexcept {
        return reinterpret_cast<const __m256i*>(row) + number;
    }
    __m256i halves_[kHalves];
};

}  // namespace

DensePlanes::DensePlanes(std::span<const BitPlane> planes, std::size_t clauses,
                         const BlockPool& pool)
    : per_row_{blocks_for(clauses)} {
    const std::size_t blocks = per_row_;
    std::size_t rows = 0;
    for (const BitPlane& plane : planes) {
        rows += plane.rows();
    }
    if (blocks == 0 || blocks > kMostPerRow || rows * blocks > kMostBlocks) {
        return;
    }
    for (const BitPlane& plane : planes) {
        planes_.push_back(blocks_.size());
        for (std::uint32_t number = 0; number < plane.rows(); ++number) {
            const BitPlane::RowWord row = plane.row(number, 0);
            for (std::size_t block = 0; block < blocks; ++block) {
                const bool open = (row.open() >> block & 1) != 0;
                blocks_.push_back(!open ? Block{}
                                  : plane.asks(block)
                                      ? pool[row.reference(plane.before(block)).at()]
                                      : clauses_of(block, clauses));
            }
        }
    }
}

template <std::size_t kPerRow>
void DensePlanes::find_in(const Rows& rows, std::size_t packets, const std::uint32_t* rule_of,
                          FoundRules::Adder& found) const noexcept {
    constexpr std::size_t kWords = kBlockWords * kPerRow;
    // Only as many entries as are read are written.
    alignas(64) std::array<std::uint64_t, kMaxBurst * kWords> satisfied;
    std::array<std::uint16_t, kMaxBurst * kWords + 1> not_zero;  // packet by packet
    const Block* const blocks = blocks_.data();
    const std::size_t planes = planes_.size();
    const std::size_t* const first = planes_.data();
    std::uint16_t* next = not_zero.data();
    for (std::size_t packet = 0; packet < packets; ++packet) {
        Both<kPerRow> both{blocks + first[0] + rows[0][packet] * kPerRow};
        for (std::size_t plane = 1; plane < planes; ++plane) {
            both.narrow(blocks + first[plane] + rows[plane][packet] * kPerRow);
        }
        std::uint32_t words = both.write(&satisfied[packet * kWords]);
        // Up to two without a branch: how many there are is as random as the packets.
        const auto add_word = [&] {
            *next = static_cast<std::uint16_t>(packet * kWords + _tzcnt_u32(words));
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
    }
    for (const std::uint16_t* at = not_zero.data(); at != next; ++at) {
        std::uint64_t bits = satisfied[*at];
        const std::size_t packet = *at / kWords;
        const std::uint32_t* const rules = rule_of + *at % kWords * 64;
        do {
            found.add(packet, rules[_tzcnt_u64(bits)]);
            bits &= bits - 1;
        } while (bits != 0);
    }
}

template void DensePlanes::find_in<1>(const Rows&, std::size_t, const std::uint32_t*,
                                      FoundRules::Adder&) const noexcept;
template void DensePlanes::find_in<2>(const Rows&, std::size_t, const std::uint32_t*,
                                      FoundRules::Adder&) const noexcept;

}  // namespace sluice
