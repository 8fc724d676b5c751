#include "lib/l7/http1/resync.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/head_finder.hpp"

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

// A method, a blank, and no more or what targets begin with.
bool may_begin_line(ByteView line) noexcept {
    const http1::ReadableText text{line};
    const std::size_t method = http1::find_token_end(text, 0);
    if (method == 0 || method >= line.size() || line[method] != std::byte{' '}) {
        return false;
    }
    const std::size_t target = method + 1;
    return target == line.size() || line[target] == std::byte{'/'} ||
           line[target] == std::byte{'*'} || line[target] == std::byte{'h'} ||
           line[target] == std::byte{'H'};
}

}  // namespace

bool begins_half_request(ByteView bytes) noexcept {
    const RequestStart start = find_request_start(bytes, 0, ReadingStance::Service);
    if (start.is_found) {
        return !has_blank_line(bytes.subspan(start.at));
    }
    return start.at < bytes.size() && may_begin_line(bytes.subspan(start.at));
}

}  // namespace sluice
