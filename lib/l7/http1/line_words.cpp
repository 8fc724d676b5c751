#include "lib/l7/http1/line_words.hpp"

#include "lib/l7/http1/texts.hpp"

#include <algorithm>

namespace sluice::http1 {

namespace {

bool is_version(ByteView word) noexcept {
    constexpr std::string_view kHttp = "http/";
    return as_text(word).starts_with("RTSP/") || as_text(word).starts_with("ICE/") ||
           (word.size() >= kHttp.size() && equals_ignoring_case(word.first(kHttp.size()), kHttp));
}

// A line without a version is one of HTTP/0.9: nginx, Apache and Python take GET, Node any method
// it knows, with a target that is one.
bool is_http09(ByteView method, ByteView target) noexcept {
    const std::string_view text = as_text(target);
    if (std::any_of(target.begin(), target.end(), is_blank)) {
        return false;
    }
    if (as_text(method) == "GET") {
        return true;
    }
    const bool may_be_known = std::all_of(method.begin(), method.end(), [](std::byte byte) {
        return byte == std::byte{'-'} || (byte >= std::byte{'A'} && byte <= std::byte{'Z'});
    });
    const bool has_form = text.front() == '/' || text.front() == '*' ||
                          text.find(kSchemeEnd) != std::string_view::npos ||
                          as_text(method) == "CONNECT";
    return may_be_known && has_form;
}

// Words of a line that `is_space` keeps apart.
template <typename IsSpace>
LineWords split_by(ByteView line, IsSpace is_space) noexcept {
    const ByteView text = trimmed(line, is_space);
    if (text.empty()) {
        return {.fault = LineFault::NoMethod, .method = {}, .target = {}, .version = {}};
    }
    const auto method_end = std::find_if(text.begin(), text.end(), is_space);
    LineWords words;
    words.method = text.first(static_cast<std::size_t>(method_end - text.begin()));
    const ByteView rest = trimmed(text.subspan(words.method.size()), is_space);
    if (rest.empty()) {
        // Node takes CONNECT without a target.
        words.target = rest;
        words.fault = as_text(words.method) == "CONNECT" ? LineFault::None : LineFault::NoTarget;
        return words;
    }
    const auto last = static_cast<std::size_t>(
        std::find_if(rest.rbegin(), rest.rend(), is_space).base() - rest.begin());
    if (last != 0 && is_version(rest.subspan(last))) {
        words.version = rest.subspan(last);
        words.target = trimmed(rest.first(last), is_space);
        return words;
    }
    words.target = rest;
    words.fault = is_http09(words.method, rest) ? LineFault::None : LineFault::NoVersion;
    return words;
}

}  // namespace

LineWords split_line(ByteView line) noexcept {
    const LineWords words = split_by(line, is_line_space);
    if (words.fault == LineFault::None && !words.version.empty()) [[likely]] {
        return words;
    }
    // A server for which NEL and NBSP are space may have a version where others have none.
    const LineWords others = split_by(line, is_any_line_space);
    const bool is_more = others.fault == LineFault::None &&
                         (words.fault != LineFault::None || !others.version.empty());
    return is_more ? others : words;
}

bool ends_in_version(ByteView line) noexcept {
    const ByteView text = trimmed(line, is_any_line_space);
    const auto last = std::find_if(text.rbegin(), text.rend(), is_any_line_space).base();
    return is_version(text.subspan(static_cast<std::size_t>(last - text.begin())));
}

}  // namespace sluice::http1
