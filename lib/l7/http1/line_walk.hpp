#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/byte_masks.hpp"
#include "lib/l7/http1/texts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::http1 {

// A line of a head, and the token that it begins with.
struct Line {
    ByteView bytes;         // without its end, LF or CR LF
    std::size_t token_end;  // of these; zero: it begins with another byte
};

// The lines of a head in their order. A pass over its bytes, 64 at once, finds all that depends on
// single bytes: where lines end and where their first tokens end, where the first empty line is,
// and which shapes bytes have wherever they stand. It goes as far ahead of the reader as there is
// room for lines, so the room does not depend on the head's size.
class LineWalk {
public:
    // `bytes` begin with a line that is not empty. What is behind the first empty line counts for
    // nothing.
    explicit LineWalk(ByteView bytes) noexcept : bytes_{bytes} { find_lines(); }

    // The next line; past the last one, an empty line. The caller stops at the first of these.
    [[nodiscard]] Line next() noexcept {
        if (read_ == line_count_) [[unlikely]] {
            find_lines();
            if (line_count_ == 0) {
                return {bytes_.subspan(bytes_.size()), 0};
            }
        }
        const std::size_t begin = at_;
        const std::size_t token_end = token_ends_[read_];
        const std::size_t end = ends_[read_];
        ++read_;
        at_ = end + 1;
        const bool has_cr = end > begin && bytes_[end - 1] == kCr;
        return {{bytes_.data() + begin, end - begin - (has_cr ? 1 : 0)}, token_end - begin};
    }
    // A part of the bytes, to be loaded with what is behind it.
    [[nodiscard]] ReadableText readable(ByteView part) const noexcept {
        return ReadableText{bytes_}.with(part);
    }
    // Does the line that next() would give begin with a blank?
    [[nodiscard]] bool is_folded() const noexcept {
        return at_ < bytes_.size() && is_blank(bytes_[at_]);
    }

    // Where the line begins that next() would give.
    [[nodiscard]] std::size_t at() const noexcept { return at_; }

    // The bytes up to the first empty line, this included; zero: it has not been found yet.
    [[nodiscard]] std::size_t head_size() const noexcept { return head_size_; }
    // The same bytes, once they have been found.
    [[nodiscard]] ByteView head() const noexcept { return bytes_.first(head_size_); }
    // Of a head that has been read to its end: the shapes of bytes wherever they stand.
    void add_byte_shapes(HeadShapes& shapes) const noexcept;
    // Likewise: any bytes beyond ASCII.
    [[nodiscard]] bool has_high_byte() const noexcept { return high_ != 0; }

private:
    // Lines that are found ahead of the reader: twice a usual head's, and a word full of line ends.
    static constexpr std::size_t kLines = 2 * kWord;
    static constexpr std::size_t kGroup = 4;  // positions that are written at once

    void find_lines() noexcept;
    void add_odd_bytes(const WideBlock& wide, unsigned shift, std::uint64_t odd) noexcept;
    [[nodiscard]] static std::size_t add_positions(std::uint64_t mask, std::size_t base,
                                                   std::uint32_t* to) noexcept;

    ByteView bytes_;
    std::size_t at_ = 0;         // where the next line begins
    std::size_t read_ = 0;       // of the lines found
    std::size_t line_count_ = 0;
    std::size_t token_count_ = 0;  // as many, or one more: of a line that ends further on
    std::size_t head_size_ = 0;
    std::size_t scanned_ = 0;  // bytes
    // Of the words so far.
    LineEnds line_ends_{true};
    std::uint64_t cr_ = 0;     // 1: the last byte is a CR
    std::uint8_t carry_ = 0;   // 1: a token that begins a line goes on
    std::uint64_t bare_lf_ = 0;
    std::uint64_t bare_cr_ = 0;
    std::uint64_t control_ = 0;
    std::uint64_t nul_ = 0;
    std::uint64_t high_ = 0;
    std::array<std::uint32_t, kLines + kGroup> ends_;
    std::array<std::uint32_t, kLines + kGroup + 1> token_ends_;
};

}  // namespace sluice::http1
