#include "lib/l7/http1/request_line.hpp"

#include "lib/l7/http1/byte_blocks.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <string_view>

namespace sluice::http1 {

namespace {

constexpr std::string_view kSchemeEnd = "://";

// Shapes of a version, and its minor number.
void read_version(ByteView version, RequestHead& head) noexcept {
    constexpr std::string_view kPrefix = "HTTP/1.";
    const std::string_view text = as_text(version);
    const bool is_known =
        text.size() == kPrefix.size() + 1 && text.starts_with(kPrefix) && is_digit(version.back());
    head.shapes.add_if(!is_known, HeadShape::BadVersion);
    head.minor_version = is_known && text.back() == '0' ? 0 : 1;
    head.shapes.add_if(is_known && text.back() > '1', HeadShape::OtherMinorVersion);
}

bool is_scheme_byte(std::byte byte) noexcept {
    return is_letter(byte) || is_digit(byte) || byte == std::byte{'+'} || byte == std::byte{'-'} ||
           byte == std::byte{'.'};
}

// Where the scheme of an absolute target ends; 0: it has none.
std::size_t scheme_size(const ReadableText& target) noexcept {
    const std::size_t end = find_byte(target, 0, ':');
    const ByteView scheme = target.bytes().first(end);
    const bool is_scheme = is_letter(target.bytes().front()) &&
                           std::all_of(scheme.begin(), scheme.end(), is_scheme_byte) &&
                           as_text(target.bytes()).substr(end, kSchemeEnd.size()) == kSchemeEnd;
    return is_scheme ? end : 0;
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

void read_request_line(const http1::ReadableText& text, RequestHead& head) noexcept {
    const ByteView line = text.bytes();
    const std::size_t method_end = http1::find_token_end(text, 0);
    head.method = line.first(method_end);
    const ByteView behind = line.subspan(method_end + 1);
    const ByteView rest = http1::without_blanks(behind);
    std::size_t version = rest.size();
    while (!http1::is_blank(rest[version - 1])) {
        --version;
    }
    http1::read_version(rest.subspan(version), head);
    head.target = http1::without_blanks(rest.first(version));
    const bool is_plain = line[method_end] == std::byte{' '} && rest.size() == behind.size() &&
                          head.target.size() + 1 == version && rest[version - 1] == std::byte{' '};
    head.shapes.add_if(!is_plain, HeadShape::RequestLineSpace);
    const std::size_t blank = http1::find_byte(text.with(head.target), 0, [](http1::Block block) {
        return http1::equal_mask(block, ' ') | http1::equal_mask(block, '\t');
    });
    const std::size_t high = http1::find_byte(text.with(head.target), 0, http1::high_mask);
    head.shapes.add_if(blank != head.target.size(), HeadShape::SpaceInTarget);
    head.shapes.add_if(high != head.target.size(), HeadShape::HighByteInTarget);
}

TargetParts split_target(const http1::ReadableText& target, bool is_connect, bool is_options,
                         HeadShapes& shapes) noexcept {
    const std::size_t end = http1::find_byte(target, 0, '#');
    shapes.add_if(end != target.size(), HeadShape::Fragment);
    const ByteView uri = target.bytes().first(end);
    const bool is_origin = target.bytes().front() == http1::kSlash;
    const bool is_asterisk = http1::as_text(target.bytes()) == "*";
    if (is_connect && !is_origin && !is_asterisk && http1::scheme_size(target) == 0) {
        return {uri, {}, {}};
    }
    const std::size_t scheme = is_origin || is_asterisk ? 0 : http1::scheme_size(target);
    shapes.add_if(
        is_connect || (is_asterisk && !is_options) || (!is_origin && !is_asterisk && scheme == 0),
        HeadShape::TargetForm);
    TargetParts parts;
    std::size_t path = 0;
    if (scheme != 0) {
        const std::size_t authority = scheme + http1::kSchemeEnd.size();
        path = http1::find_byte(target.with(uri), authority, [](http1::Block block) {
            return http1::equal_mask(block, '/') | http1::equal_mask(block, '?');
        });
        parts.authority = uri.subspan(authority, path - authority);
    }
    const std::size_t query = http1::find_byte(target.with(uri), path, '?');
    parts.path = uri.subspan(path, query - path);
    if (query != uri.size()) {
        parts.query = uri.subspan(query + 1);
    }
    return parts;
}

}  // namespace sluice
