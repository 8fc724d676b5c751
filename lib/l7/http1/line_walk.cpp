#include "lib/l7/http1/line_walk.hpp"

#include <algorithm>
#include <bit>

#include <immintrin.h>

namespace sluice::http1 {

// How many there are. Writes whole groups, so that most words cost no branch that depends on them.
std::size_t LineWalk::add_positions(std::uint64_t mask, std::size_t base,
                                    std::uint32_t* to) noexcept {
    const auto count = static_cast<std::size_t>(std::popcount(mask));
    for (std::size_t done = 0;;) {
        for (std::size_t i = 0; i < kGroup; ++i) {
            to[done + i] = static_cast<std::uint32_t>(
                base + static_cast<std::size_t>(std::countr_zero(mask)));
            mask &= mask - 1;
        }
        done += kGroup;
        if (done >= count) [[likely]] {
            return count;
        }
    }
}

// Controls that are no line ends are rare.
[[gnu::cold, gnu::noinline]] void LineWalk::add_odd_bytes(const WideBlock& wide, unsigned shift,
                                                          std::uint64_t odd) noexcept {
    const std::uint64_t zero = wide.equal('\0') >> shift & odd;
    nul_ |= zero;
    control_ |= odd & ~zero & ~(wide.equal('\t') >> shift);
}

void LineWalk::find_lines() noexcept {
    // The token of a line whose end has not been found yet.
    if (token_count_ > line_count_) {
        token_ends_[0] = token_ends_[line_count_];
    }
    token_count_ -= line_count_;
    line_count_ = 0;
    read_ = 0;
    while (head_size_ == 0 && scanned_ < bytes_.size() && line_count_ + kWord <= kLines) {
        visit_word(bytes_, scanned_, [this](const WideBlock& wide, unsigned shift,
                                            std::uint64_t bits) {
            const std::uint64_t lf = wide.equal('\n') >> shift & bits;
            const std::uint64_t cr = wide.equal('\r') >> shift;
            const std::uint64_t token = wide.token() >> shift;
            line_ends_.add(lf, cr);
            // Up to the last byte of the first empty line, or all.
            const std::uint64_t empty = line_ends_.empty_lines();
            const std::uint64_t head = (empty ^ (empty - 1)) & bits;
            // A sum carries from where a line begins through its token to the first byte behind.
            unsigned long long behind = 0;
            carry_ = _addcarry_u64(carry_, token, line_ends_.lines(), &behind);
            const std::uint64_t behind_cr = cr << 1 | cr_;
            cr_ = cr >> (kWord - 1);
            bare_lf_ |= lf & ~behind_cr & head;
            bare_cr_ |= behind_cr & ~lf & head;
            high_ |= wide.beyond_ascii() >> shift & head;
            const std::uint64_t odd = wide.control() >> shift & ~(lf | cr) & head;
            if (odd != 0) [[unlikely]] {
                add_odd_bytes(wide, shift, odd);
            }
            token_count_ += add_positions(behind & ~token & head, scanned_,
                                          token_ends_.data() + token_count_);
            line_count_ += add_positions(lf & head, scanned_, ends_.data() + line_count_);
            if (empty != 0) {
                head_size_ = scanned_ + static_cast<std::size_t>(std::countr_zero(empty)) + 1;
            }
        });
        scanned_ += std::min(kWord, bytes_.size() - scanned_);
    }
}

void LineWalk::add_byte_shapes(HeadShapes& shapes) const noexcept {
    shapes.add_if(bare_lf_ != 0, HeadShape::BareLf);
    shapes.add_if(bare_cr_ != 0, HeadShape::BareCr);
    shapes.add_if(control_ != 0, HeadShape::ControlByte);
    shapes.add_if(nul_ != 0, HeadShape::Nul);
}

}  // namespace sluice::http1
