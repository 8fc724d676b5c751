#include "lib/l7/http1/line_walk.hpp"

#include <algorithm>
#include <bit>

namespace sluice::http1 {

// How many there are. Writes whole groups, so that most words cost no branch that depends on them.
std::size_t LineWalk::add_ends(std::uint64_t lf, std::size_t base, std::uint32_t* to) noexcept {
    const auto count = static_cast<std::size_t>(std::popcount(lf));
    for (std::size_t done = 0;;) {
        for (std::size_t i = 0; i < kGroup; ++i) {
            to[done + i] =
                static_cast<std::uint32_t>(base + static_cast<std::size_t>(std::countr_zero(lf)));
            lf &= lf - 1;
        }
        done += kGroup;
        if (done >= count) [[likely]] {
            return count;
        }
    }
}

void LineWalk::find_lines() noexcept {
    LineEnds line_ends = line_ends_;
    std::size_t found = 0;
    const auto scan = [&](const WideBlock& wide, unsigned shift, std::uint64_t bits) {
        const std::uint64_t lf = wide.equal('\n') >> shift & bits;
        const std::uint64_t cr = wide.equal('\r') >> shift & bits;
        const std::uint64_t behind_cr = line_ends.add(lf, cr);
        // Up to the last byte of the first empty line, or all.
        const std::uint64_t empty = line_ends.empty_lines();
        const std::uint64_t head = (empty ^ (empty - 1)) & bits;
        const std::uint64_t others = wide.not_printable() >> shift & ~(lf | cr);
        const std::uint64_t odd = ((behind_cr ^ lf) | others) & head;
        if (odd != 0) [[unlikely]] {
            const std::uint64_t high = wide.beyond_ascii() >> shift & odd;
            const std::uint64_t nul = wide.equal('\0') >> shift & odd;
            odd_.bare_lf |= lf & odd;
            odd_.bare_cr |= behind_cr & odd;
            odd_.high |= high;
            odd_.nul |= nul;
            odd_.control |= others & odd & ~high & ~nul & ~(wide.equal('\t') >> shift);
        }
        found += add_ends(lf & head, scanned_, ends_.data() + found);
        head_size_ =
            empty == 0 ? 0 : scanned_ + static_cast<std::size_t>(std::countr_zero(empty)) + 1;
    };
    while (head_size_ == 0 && scanned_ < bytes_.size() && found + kWord <= kLines) {
        visit_word(bytes_, scanned_, scan);
        scanned_ += kWord;
    }
    line_ends_ = line_ends;
    full_ = found - (head_size_ != 0 && found != 0 ? 1 : 0);
    read_ = 0;
}

void LineWalk::add_byte_shapes(HeadShapes& shapes) const noexcept {
    shapes.add_if(odd_.bare_lf != 0, HeadShape::BareLf);
    shapes.add_if(odd_.bare_cr != 0, HeadShape::BareCr);
    shapes.add_if(odd_.control != 0, HeadShape::ControlByte);
    shapes.add_if(odd_.nul != 0, HeadShape::Nul);
}

}  // namespace sluice::http1
