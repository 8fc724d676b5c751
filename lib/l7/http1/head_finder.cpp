#include "lib/l7/http1/head_finder.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/byte_masks.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <bit>

namespace sluice::http1 {

namespace {

constexpr std::string_view kVersionWord = "http/";

// The bytes up to which the first empty line behind a line end at `from` or later goes; 0: none
// yet.
std::size_t find_empty_line(ByteView bytes, std::size_t from) noexcept {
    LineEnds ends{false};
    for (std::size_t at = from; at < bytes.size(); at += kWord) {
        visit_word(bytes, at, [&](const WideBlock& wide, unsigned shift, std::uint64_t bits) {
            ends.add(wide.equal('\n') >> shift & bits, wide.equal('\r') >> shift);
        });
        if (ends.empty_lines() != 0) {
            return at + static_cast<std::size_t>(std::countr_zero(ends.empty_lines())) + 1;
        }
    }
    return 0;
}

// Does a line whose method ends at `method_end` end in a word of a version, with a target between?
bool ends_in_version(ByteView line, std::size_t method_end) noexcept {
    const ByteView rest = without_blanks(
        line.subspan(method_end, line.size() - method_end - (line.back() == kCr ? 1 : 0)));
    std::size_t word = rest.size();
    while (word > 0 && !is_blank(rest[word - 1])) {
        --word;
    }
    return word > 0 && rest.size() - word >= kVersionWord.size() &&
           equals_ignoring_case(rest.subspan(word, kVersionWord.size()), kVersionWord);
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

// False: more must come before it is known where the line begins.
bool HeadFinder::skip_empty_lines(ByteView bytes) noexcept {
    while (begin_ < bytes.size()) {
        if (bytes[begin_] == http1::kLf) {
            begin_ += 1;
        } else if (bytes[begin_] != http1::kCr) {
            return true;
        } else if (begin_ + 1 == bytes.size()) {
            return false;
        } else if (bytes[begin_ + 1] == http1::kLf) {
            begin_ += 2;
        } else {
            return true;  // a bare CR, which is no method's
        }
    }
    return false;
}

HeadStatus HeadFinder::find_line(ByteView bytes) noexcept {
    const std::size_t common = std::min(bytes.size(), kH2Preface.size());
    const bool may_be_preface = bytes.empty() || bytes.front() == std::byte{'P'};
    if (may_be_preface && http1::as_text(bytes.first(common)) == kH2Preface.substr(0, common)) {
        size_ = static_cast<std::uint32_t>(common);
        return common == kH2Preface.size() ? HeadStatus::H2Preface : HeadStatus::NeedMore;
    }
    if (!skip_empty_lines(bytes)) {
        return HeadStatus::NeedMore;
    }
    const ByteView method_room =
        bytes.subspan(begin_, std::min(bytes.size() - begin_, kMaxMethodSize + 1));
    const std::size_t method_end = http1::find_token_end(method_room, 0);
    if (method_end == method_room.size()) {
        return method_end > kMaxMethodSize ? HeadStatus::NotHttp : HeadStatus::NeedMore;
    }
    if (method_end == 0 || !http1::is_blank(method_room[method_end])) {
        return HeadStatus::NotHttp;
    }
    const std::size_t line_end = http1::find_byte(bytes, std::max(scanned_, begin_), '\n');
    scanned_ = static_cast<std::uint32_t>(line_end);
    if (line_end == bytes.size()) {
        return HeadStatus::NeedMore;
    }
    has_line_ = http1::ends_in_version(bytes.subspan(begin_, line_end - begin_), method_end);
    return has_line_ ? HeadStatus::Complete : HeadStatus::NotHttp;
}

HeadStatus HeadFinder::find(ByteView so_far, std::size_t limit) noexcept {
    const ByteView bytes = so_far.first(std::min(so_far.size(), limit));
    const HeadStatus unless_more =
        bytes.size() < limit ? HeadStatus::NeedMore : HeadStatus::TooLong;
    if (!has_line_) {
        const HeadStatus line = find_line(bytes);
        if (line != HeadStatus::Complete) {
            return line == HeadStatus::NeedMore ? unless_more : line;
        }
    }
    const std::size_t end = http1::find_empty_line(bytes, scanned_);
    if (end != 0) {
        size_ = static_cast<std::uint32_t>(end);
        return HeadStatus::Complete;
    }
    // A line that ends with one of the last two bytes may be followed by an empty one.
    scanned_ = std::max(scanned_, static_cast<std::uint32_t>(bytes.size() - 2));
    return unless_more;
}

}  // namespace sluice
