#include "lib/l7/http1/head_finder.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/byte_masks.hpp"
#include "lib/l7/http1/line_words.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <bit>

namespace sluice::http1 {

namespace {

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

// A handshake of TLS (RFC 8446, 5.1) from a client that takes the port for one of HTTPS. No line
// may end in it for long, and a server that takes any method gets none of it.
constexpr std::string_view kTlsRecord = "\x16\x03";

enum class TargetBegin : std::uint8_t { None, NeedMore, Fine };

// Could the absolute form of a target begin so?
TargetBegin scheme_at(ByteView bytes, std::size_t at) noexcept {
    const ByteView room = bytes.subspan(at, std::min(bytes.size() - at, kMaxSchemeSize + 1));
    const auto end = static_cast<std::size_t>(
        std::find_if_not(room.begin(), room.end(), is_scheme_byte) - room.begin());
    if (end == room.size()) {
        return end > kMaxSchemeSize ? TargetBegin::None : TargetBegin::NeedMore;
    }
    const std::string_view behind = as_text(bytes.subspan(at + end)).substr(0, kSchemeEnd.size());
    if (!kSchemeEnd.starts_with(behind)) {
        return TargetBegin::None;
    }
    return behind.size() == kSchemeEnd.size() ? TargetBegin::Fine : TargetBegin::NeedMore;
}

// Could one of the four forms of a target (RFC 9112, 3.2) begin behind a method that ends at
// `method_end`?
TargetBegin target_behind(ByteView bytes, ByteView method, std::size_t method_end) noexcept {
    std::size_t at = method_end;
    while (at < bytes.size() && is_blank(bytes[at])) {
        ++at;
    }
    if (at == bytes.size()) {
        return TargetBegin::NeedMore;
    }
    if (bytes[at] == kSlash) {
        return TargetBegin::Fine;
    }
    if (bytes[at] == std::byte{'*'}) {
        return at + 1 == bytes.size()    ? TargetBegin::NeedMore
               : is_blank(bytes[at + 1]) ? TargetBegin::Fine
                                         : TargetBegin::None;
    }
    if (as_text(method) == "CONNECT") {
        return is(bytes[at], kRegName) || bytes[at] == std::byte{'['} ? TargetBegin::Fine
                                                                      : TargetBegin::None;
    }
    return is_letter(bytes[at]) ? scheme_at(bytes, at) : TargetBegin::None;
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

HalfLine half_line(ByteView line) noexcept {
    const auto begin = std::find_if_not(line.begin(), line.end(), http1::is_any_line_space);
    const auto method_end = std::find_if(begin, line.end(), http1::is_any_line_space);
    const bool is_token = std::all_of(
        begin, method_end, [](std::byte byte) { return http1::is(byte, http1::kToken); });
    if (!is_token || begin == line.end()) {
        return HalfLine::None;
    }
    if (method_end == line.end()) {
        return HalfLine::May;
    }
    const ByteView rest = line.subspan(static_cast<std::size_t>(method_end - line.begin()));
    const ByteView method = line.subspan(static_cast<std::size_t>(begin - line.begin()),
                                         static_cast<std::size_t>(method_end - begin));
    const auto target = static_cast<std::size_t>(
        std::find_if_not(rest.begin(), rest.end(), http1::is_any_line_space) - rest.begin());
    constexpr std::string_view kHttp = "http";
    const ByteView scheme = rest.subspan(target, std::min(rest.size() - target, kHttp.size()));
    const bool begins_as_http = target + scheme.size() == rest.size() &&
                                http1::equals_ignoring_case(scheme, kHttp.substr(0, scheme.size()));
    const bool is_target =
        begins_as_http || http1::target_behind(rest, method, target) == http1::TargetBegin::Fine;
    return is_target || rest[target] == std::byte{'*'} ? HalfLine::Target : HalfLine::May;
}

// False: more must come before it is known where the line begins.
bool HeadFinder::skip_empty_lines(ByteView bytes) noexcept {
    const bool any_cr = stance_ == ReadingStance::Service;
    while (begin_ < bytes.size()) {
        if (bytes[begin_] == http1::kLf) {
            begin_ += 1;
        } else if (bytes[begin_] != http1::kCr) {
            return true;
        } else if (any_cr) {
            begin_ += 1;
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

// The line, once all of it is there.
HeadStatus HeadFinder::find_whole_line(ByteView bytes) noexcept {
    const std::size_t line_end = http1::find_byte(bytes, std::max(scanned_, begin_), '\n');
    scanned_ = static_cast<std::uint32_t>(line_end);
    if (line_end == bytes.size()) {
        return HeadStatus::NeedMore;
    }
    const http1::LineWords words = http1::split_line(bytes.subspan(begin_, line_end - begin_));
    const bool is_http09 = words.fault == LineFault::None && words.version.empty();
    if (is_http09 && stance_ == ReadingStance::Anywhere) {
        return none(LineFault::NoVersion);
    }
    if (words.fault != LineFault::None) {
        return none(words.fault);
    }
    has_line_ = true;
    is_line_all_ = is_http09;
    return HeadStatus::Complete;
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
    if (stance_ == ReadingStance::Service) {
        return http1::as_text(bytes.subspan(begin_)).starts_with(http1::kTlsRecord)
                   ? none(LineFault::NoMethod)
                   : find_whole_line(bytes);
    }
    const ByteView method_room =
        bytes.subspan(begin_, std::min(bytes.size() - begin_, kMaxMethodSize + 1));
    const std::size_t method_end = http1::find_token_end(method_room, 0);
    if (method_end == method_room.size()) {
        return method_end > kMaxMethodSize ? none(LineFault::MethodTooLong) : HeadStatus::NeedMore;
    }
    if (method_end == 0) {
        return none(LineFault::NoMethod);
    }
    if (!http1::is_blank(method_room[method_end])) {
        const bool ends =
            method_room[method_end] == http1::kCr || method_room[method_end] == http1::kLf;
        return none(ends ? LineFault::NoTarget : LineFault::NoMethod);
    }
    const http1::TargetBegin target =
        http1::target_behind(bytes, method_room.first(method_end), begin_ + method_end);
    if (target == http1::TargetBegin::None) {
        return none(LineFault::NoTargetForm);
    }
    return target == http1::TargetBegin::Fine ? find_whole_line(bytes) : HeadStatus::NeedMore;
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
    const std::size_t end =
        is_line_all_ ? scanned_ + std::size_t{1} : http1::find_empty_line(bytes, scanned_);
    if (end != 0) {
        size_ = static_cast<std::uint32_t>(end);
        return HeadStatus::Complete;
    }
    // A line that ends with one of the last two bytes may be followed by an empty one.
    scanned_ = std::max(scanned_, static_cast<std::uint32_t>(bytes.size() - 2));
    return unless_more;
}

}  // namespace sluice
