#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/byte_masks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::http1 {

// The lines of a head in their order, up to the first empty one. A pass over its bytes, 64 at once,
// finds all that depends on single bytes: where lines end, where the first empty one is, and the
// shapes that bytes have wherever they stand. It goes as far ahead of the reader as there is room
// for lines, so the room does not depend on the head's size.
class LineWalk {
public:
    // `bytes` begin with a line that is not empty. What is behind the first empty line counts for
    // nothing.
    explicit LineWalk(ByteView bytes) noexcept : bytes_{bytes} { find_lines(); }

    // Goes on to the next line. False: it is the first empty one, or there is none.
    [[nodiscard]] bool next() noexcept {
        if (read_ == full_) [[unlikely]] {
            find_lines();
            if (full_ == 0) {
                return false;
            }
        }
        begin_ = at_;
        end_ = ends_[read_++];
        at_ = end_ + 1;
        return true;
    }
    // next() will go on to this line again.
    void put_back() noexcept {
        at_ = begin_;
        --read_;
    }
    // The line that next() went on to, without its end, LF or CR LF.
    [[nodiscard]] ByteView line() const noexcept {
        const bool has_cr = end_ > begin_ && bytes_[end_ - 1] == kCr;
        return {bytes_.data() + begin_, end_ - begin_ - (has_cr ? 1 : 0)};
    }
    // The offset of the line's first byte.
    [[nodiscard]] std::size_t begin_at() const noexcept { return begin_; }
    // The line's first byte, and at least the bytes up to its LF behind that.
    [[nodiscard]] const std::byte* begin() const noexcept { return bytes_.data() + begin_; }
    // The line's first bytes, and behind its end any.
    [[nodiscard]] Block load() const noexcept { return ReadableText{bytes_}.load(begin_); }
    // A part of the bytes, to be loaded with what is behind it.
    [[nodiscard]] ReadableText readable(ByteView part) const noexcept {
        return ReadableText{bytes_}.with(part);
    }
    // Does the line that next() would go on to begin with a blank?
    [[nodiscard]] bool is_folded() const noexcept {
        return at_ < bytes_.size() && is_blank(bytes_[at_]);
    }
    // The offset of that line's first byte.
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

    // The bytes up to the first empty line, this included; zero: it has not been found yet.
    [[nodiscard]] std::size_t head_size() const noexcept { return head_size_; }
    // The same bytes, once they have been found.
    [[nodiscard]] ByteView head() const noexcept { return bytes_.first(head_size_); }
    // Adds, of a head that has been read to its end, the shapes of bytes wherever they stand.
    void add_byte_shapes(HeadShapes& shapes) const noexcept;
    // Likewise: any bytes beyond ASCII.
    [[nodiscard]] bool has_high_byte() const noexcept { return odd_.high != 0; }

private:
    // Lines that are found ahead of the reader: twice a usual head's, and a word full of line ends.
    static constexpr std::size_t kLines = 2 * kWord;
    static constexpr std::size_t kGroup = 4;  // positions that are written at once
    using Ends = std::array<std::uint32_t, kLines + kGroup>;

    // Bytes that have shapes of their own, as bits of any word.
    struct OddBytes {
        std::uint64_t bare_lf = 0;
        std::uint64_t bare_cr = 0;
        std::uint64_t control = 0;
        std::uint64_t nul = 0;
        std::uint64_t high = 0;
    };

    void find_lines() noexcept;
    [[nodiscard]] static std::size_t add_ends(std::uint64_t lf, std::size_t base,
                                              std::uint32_t* to) noexcept;

    ByteView bytes_;
    std::size_t begin_ = 0;  // of the line
    std::size_t end_ = 0;    // its LF
    std::size_t at_ = 0;     // where the next line begins
    std::size_t read_ = 0;   // of the lines found
    std::size_t full_ = 0;   // of these, those before the first empty one
    std::size_t head_size_ = 0;
    std::size_t scanned_ = 0;  // bytes
    // Findings in the bytes scanned.
    LineEnds line_ends_{true};
    OddBytes odd_;
    Ends ends_;
};

}  // namespace sluice::http1
