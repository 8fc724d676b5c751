#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice::http1 {

// The lines of a head in their order, each found by the bits of line ends in blocks that are read
// once.
class LineWalk {
public:
    explicit LineWalk(ByteView head) noexcept : head_{head}, ends_{line_ends(0)} {}

    // The next line without its end, LF or CR LF. The head ends with a line end, and the caller
    // stops at the first empty line.
    [[nodiscard]] ByteView next() noexcept {
        const std::size_t begin = at_;
        while (ends_ == 0 && block_ + kBlock < head_.bytes().size()) {
            block_ += kBlock;
            ends_ = line_ends(block_);
        }
        if (ends_ == 0) {
            return head_.bytes().subspan(head_.bytes().size());
        }
        const std::size_t end = block_ + static_cast<std::size_t>(std::countr_zero(ends_));
        ends_ &= ends_ - 1;
        at_ = end + 1;
        const bool has_cr = end > begin && head_.bytes()[end - 1] == kCr;
        return head_.bytes().subspan(begin, end - begin - (has_cr ? 1 : 0));
    }
    // A part of the head, to be loaded with what is behind it.
    [[nodiscard]] ReadableText readable(ByteView part) const noexcept { return head_.with(part); }
    // Does the line that next() would give begin with a blank?
    [[nodiscard]] bool is_folded() const noexcept {
        return at_ < head_.bytes().size() && is_blank(head_.bytes()[at_]);
    }

private:
    [[nodiscard]] std::uint32_t line_ends(std::size_t at) const noexcept {
        return equal_mask(head_.load(at), '\n') & head_.bits_within(at);
    }

    ReadableText head_;
    std::size_t at_ = 0;     // where the next line begins
    std::size_t block_ = 0;  // of which ends_ are the line ends to come
    std::uint32_t ends_;
};

}  // namespace sluice::http1
