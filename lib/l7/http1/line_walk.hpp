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
    explicit LineWalk(ByteView head) noexcept
        : head_{head}, ends_{equal_mask(load_block(head, 0), '\n')} {}

    // The next line without its end, LF or CR LF. The head ends with a line end, and the caller
    // stops at the first empty line.
    [[nodiscard]] ByteView next() noexcept {
        const std::size_t begin = at_;
        while (ends_ == 0 && block_ + kBlock < head_.size()) {
            block_ += kBlock;
            ends_ = equal_mask(load_block(head_, block_), '\n');
        }
        if (ends_ == 0) {
            return head_.subspan(head_.size());
        }
        const std::size_t end = block_ + static_cast<std::size_t>(std::countr_zero(ends_));
        ends_ &= ends_ - 1;
        at_ = end + 1;
        const bool has_cr = end > begin && head_[end - 1] == kCr;
        return head_.subspan(begin, end - begin - (has_cr ? 1 : 0));
    }
    // Does the line that next() would give begin with a blank?
    [[nodiscard]] bool is_folded() const noexcept {
        return at_ < head_.size() && is_blank(head_[at_]);
    }

private:
    ByteView head_;
    std::size_t at_ = 0;     // where the next line begins
    std::size_t block_ = 0;  // of which ends_ are the line ends to come
    std::uint32_t ends_;
};

}  // namespace sluice::http1
