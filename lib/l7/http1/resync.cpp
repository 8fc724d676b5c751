#include "lib/l7/http1/resync.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/head_finder.hpp"
#include "lib/l7/http1/line_words.hpp"

namespace sluice {

RequestStart find_request_start(ByteView bytes, std::size_t from, ReadingStance stance) noexcept {
    for (std::size_t at = from; at < bytes.size();) {
        const std::byte first = bytes[at];
        if (first == std::byte{'\r'} || first == std::byte{'\n'}) {
            ++at;
            continue;
        }
        HeadFinder finder{stance};
        const HeadStatus status = finder.find(bytes.subspan(at), kMaxHeadLimit);
        if (finder.has_line() || status == HeadStatus::H2Preface) {
            return {true, at};
        }
        if (status == HeadStatus::NeedMore) {
            return {false, at};
        }
        at = http1::find_byte(bytes, at, '\n');
    }
    return {false, bytes.size()};
}

namespace {

// A blank line that ends a head.
bool has_blank_line(ByteView bytes) noexcept {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        at = http1::find_byte(bytes, at, '\n');
        const std::size_t behind = at + 1;
        const bool has_cr = behind < bytes.size() && bytes[behind] == std::byte{'\r'};
        const std::size_t next = behind + (has_cr ? 1 : 0);
        if (next < bytes.size() && bytes[next] == std::byte{'\n'}) {
            return true;
        }
    }
    return false;
}

// No server takes other methods.
bool has_token(ByteView line) noexcept {
    const http1::LineWords words = http1::split_line(line);
    return http1::find_token_end(http1::ReadableText{words.method}, 0) == words.method.size();
}

ByteView first_line(ByteView bytes) noexcept {
    return bytes.first(http1::find_byte(bytes, 0, '\n'));
}

LinesLook unfinished(ByteView bytes, std::size_t at) noexcept {
    using What = LinesLook::What;
    switch (at < bytes.size() ? half_line(bytes.subspan(at)) : HalfLine::None) {
        case HalfLine::Target:
            return {What::Half, at};
        case HalfLine::May:
            return {What::MayBe, at};
        default:
            return {What::None, at};
    }
}

}  // namespace

LinesLook look_through_lines(ByteView bytes, std::size_t fresh) noexcept {
    using What = LinesLook::What;
    const std::size_t from = bytes.size() - fresh;
    const RequestStart joined = find_request_start(bytes, 0, ReadingStance::Service);
    const RequestStart alone =
        from == 0 ? joined : find_request_start(bytes, from, ReadingStance::Service);
    const bool is_joined = joined.is_found && joined.at < from;
    if (is_joined && has_token(first_line(bytes.subspan(joined.at)))) {
        // The same line begins another request where the segment does: which, nothing tells.
        const std::size_t end = http1::find_byte(bytes, from, '\n');
        return {alone.is_found && alone.at < end ? What::Doubtful : What::Request, joined.at};
    }
    if (alone.is_found) {
        return {What::Request, alone.at};
    }
    const bool has_line = first_line(bytes.subspan(from)).size() < fresh;
    if (has_line && http1::ends_in_version(first_line(bytes.subspan(from)))) {
        return {What::Doubtful, from};
    }
    const LinesLook own = unfinished(bytes, alone.at);
    const bool goes_on = from != 0 && !joined.is_found && joined.at < from;
    if (!goes_on || own.what == What::Half) {
        return own;
    }
    const LinesLook longer = unfinished(bytes, joined.at);
    return longer.what == What::None ? own : longer;
}

bool is_request_at_end(ByteView line) noexcept {
    return http1::split_line(line).fault == LineFault::None;
}

bool begins_half_request(ByteView bytes, std::size_t fresh) noexcept {
    const LinesLook look = look_through_lines(bytes, fresh);
    const bool is_doubtful = look.what == LinesLook::What::Doubtful && fresh != bytes.size();
    return look.what == LinesLook::What::Half || is_doubtful ||
           (look.what == LinesLook::What::Request && !has_blank_line(bytes.subspan(look.at)));
}

}  // namespace sluice
