#include "lib/l7/http1/request_line.hpp"

#include "lib/l7/http1/line_words.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/l7/http1/url_target.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

namespace sluice::http1 {

namespace {

constexpr std::string_view kUsualEnd = " HTTP/1.1";

// Blanks, a fragment and bytes beyond ASCII have shapes; controls are here too, which costs
// nothing.
std::uint32_t odd_in_target_mask(Block block) noexcept {
    const Block low = _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(' ')), block);
    const Block hash = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('#'));
    return mask_of(_mm256_or_si256(block, _mm256_or_si256(low, hash)));
}

void add_byte_shapes(const ReadableText& target, HeadShapes& shapes) noexcept {
    const std::size_t blank = find_byte(
        target, 0, [](Block block) { return equal_mask(block, ' ') | equal_mask(block, '\t'); });
    const std::size_t high = find_byte(target, 0, high_mask);
    shapes.add_if(blank != target.size(), HeadShape::SpaceInTarget);
    shapes.add_if(high != target.size(), HeadShape::HighByteInTarget);
}

bool has_small_letter(const ReadableText& text) noexcept {
    return find_byte(text, 0, small_letter_mask) != text.size();
}

// A method with small letters that programs may take in capitals. Where that one's answer has no
// body, or another protocol behind it, what the server sends can be read in two ways.
[[gnu::cold]] void add_case_shapes(ByteView method, HeadShapes& shapes) noexcept {
    shapes.add(HeadShape::MethodCase);
    shapes.add_if(equals_ignoring_case(method, "head") || equals_ignoring_case(method, "connect"),
                  HeadShape::BadMethod);
}

// Digits, and what Python takes for a number: a sign before them, and _ between two.
bool is_number(std::string_view text) noexcept {
    text.remove_prefix(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
    bool is_behind_digit = false;
    for (const char byte : text) {
        const bool is_one = is_digit(static_cast<std::byte>(byte));
        if (!is_one && (byte != '_' || !is_behind_digit)) {
            return false;
        }
        is_behind_digit = is_one;
    }
    return is_behind_digit;
}

// Two numbers with a dot between, behind the name of the protocol. `is_below`: 1.1.
bool is_two_numbers(std::string_view version, bool& is_below) noexcept {
    const std::string_view numbers = version.substr(version.find('/') + 1);
    const std::size_t dot = numbers.find('.');
    if (dot == std::string_view::npos) {
        return false;
    }
    const std::string_view major = numbers.substr(0, dot);
    const std::string_view minor = numbers.substr(dot + 1);
    is_below = major == "0" || (major == "1" && minor == "0");
    return is_number(major) && is_number(minor);
}

// Shapes of a version, and its minor number.
void read_version(ByteView version, RequestHead& head) noexcept {
    constexpr std::string_view kPrefix = "HTTP/1.";
    const std::string_view text = as_text(version);
    const bool is_known =
        text.size() == kPrefix.size() + 1 && text.starts_with(kPrefix) && is_digit(version.back());
    if (is_known) {
        head.minor_version = text.back() == '0' ? 0 : 1;
        head.shapes.add_if(text.back() > '1', HeadShape::OtherMinorVersion);
        return;
    }
    bool is_below = false;
    const bool is_name =
        text.starts_with("HTTP/") || text.starts_with("RTSP/") || text.starts_with("ICE/");
    const bool is_other = is_name && is_two_numbers(text, is_below);
    head.shapes.add(is_other ? HeadShape::OtherVersion : HeadShape::BadVersion);
    head.minor_version = is_other && is_below ? 0 : 1;
}

// The end of the scheme of an absolute target; 0: it has none.
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

bool read_usual_line(const http1::ReadableText& line, RequestHead& head) noexcept {
    const ByteView bytes = line.bytes();
    const std::size_t method = http1::find_token_end(line, 0);
    const std::size_t around = method + 1 + http1::kUsualEnd.size();
    if (method == 0 || method > kMaxMethodSize || bytes.size() <= around) {
        return false;
    }
    const std::size_t end = bytes.size() - http1::kUsualEnd.size();
    const ByteView target = bytes.subspan(method + 1, end - method - 1);
    const char minor = static_cast<char>(bytes.back());
    const std::string_view version = http1::as_text(bytes.subspan(end));
    const bool is_usual =
        bytes[method] == std::byte{' '} && !http1::is_any_line_space(target.front()) &&
        !http1::is_any_line_space(target.back()) && (minor == '1' || minor == '0') &&
        version.substr(0, version.size() - 1) ==
            http1::kUsualEnd.substr(0, http1::kUsualEnd.size() - 1);
    if (is_usual) {
        head.method = bytes.first(method);
        static_assert(kMaxMethodSize <= http1::kBlock);
        const std::uint64_t within = (std::uint64_t{1} << method) - 1;
        if ((http1::small_letter_mask(line.load(0)) & within) != 0) [[unlikely]] {
            http1::add_case_shapes(head.method, head.shapes);
        }
        head.target = target;
        head.minor_version = minor == '1' ? 1 : 0;
    }
    return is_usual;
}

void read_request_line(ByteView line, RequestHead& head) noexcept {
    const http1::LineWords words = http1::split_line(line);
    head.method = words.method;
    head.target = words.target;
    const bool is_http09 = words.version.empty();
    if (is_http09) {
        head.shapes.add(HeadShape::MissingVersion);
        head.minor_version = 0;
    } else {
        http1::read_version(words.version, head);
    }
    const std::size_t method = words.method.size();
    const std::size_t version = method + 1 + words.target.size();
    const bool is_spaced =
        !words.target.empty() && (http1::is_any_line_space(words.target.front()) ||
                                  http1::is_any_line_space(words.target.back()));
    const bool is_plain = line.data() == words.method.data() &&
                          line.size() == version + (is_http09 ? 0 : 1 + words.version.size()) &&
                          line[method] == std::byte{' '} &&
                          (is_http09 || line[version] == std::byte{' '}) && !is_spaced;
    head.shapes.add_if(!is_plain, HeadShape::RequestLineSpace);
    head.shapes.add_if(http1::find_token_end(words.method, 0) != method, HeadShape::BadMethod);
    if (http1::has_small_letter(words.method)) {
        http1::add_case_shapes(words.method, head.shapes);
    }
}

bool split_plain_target(const http1::ReadableText& target, TargetParts& parts) noexcept {
    const ByteView uri = target.bytes();
    std::size_t path = uri.size();
    std::uint32_t slash_before = 0;
    for (std::size_t at = 0; at < uri.size(); at += http1::kBlock) {
        const http1::Block block = target.load(at);
        const std::uint32_t within = target.bits_within(at);
        const std::uint32_t slash = http1::equal_mask(block, '/');
        const std::uint32_t behind_slash =
            (slash << 1 | slash_before) & (slash | http1::equal_mask(block, '.'));
        slash_before = slash >> (http1::kBlock - 1);
        // Up to the first question mark, if any.
        const std::uint32_t query = http1::equal_mask(block, '?') & within;
        const std::uint32_t of_path =
            path == uri.size() ? (query ^ (query - 1)) & within : std::uint32_t{0};
        const std::uint32_t changes =
            (http1::equal_mask(block, '%') | http1::equal_mask(block, '\\') | behind_slash) &
            of_path;
        if ((changes | (http1::odd_in_target_mask(block) & within)) != 0) {
            return false;
        }
        if ((query & of_path) != 0) {
            path = at + static_cast<std::size_t>(std::countr_zero(query));
        }
    }
    if (uri.front() != http1::kSlash) {
        return false;
    }
    parts.path = uri.first(path);
    parts.query = path == uri.size() ? ByteView{} : uri.subspan(path + 1);
    return true;
}

TargetParts split_target(const http1::ReadableText& target, bool is_connect, bool is_options,
                         HeadShapes& shapes) noexcept {
    if (target.size() == 0) {
        return {target.bytes(), {}, {}};  // CONNECT of HTTP/0.9
    }
    http1::add_byte_shapes(target, shapes);
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
    shapes.add_if(is_origin && begins_network_path(uri), HeadShape::NetworkPath);
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
