#include "tests/unit/l7/http1/llhttp_oracle.hpp"

#include "tests/unit/l7/http1/body_end.hpp"
#include "tests/unit/l7/http1/head_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <llhttp.h>

namespace sluice::test {
namespace {

// Shapes that llhttp refuses. With any other alone it takes the request, and reads it as the parser
// does.
constexpr HeadShape kRefused[] = {
    HeadShape::BareCr,
    HeadShape::BadMethod,
    HeadShape::Nul,
    HeadShape::ControlByte,
    HeadShape::HighByteInTarget,
    HeadShape::SpaceInTarget,
    HeadShape::SpaceBeforeColon,
    HeadShape::SpaceBeforeFirstHeader,
    HeadShape::BadHeaderName,
    HeadShape::NoColon,
    HeadShape::DuplicateContentLength,
    HeadShape::ContentLengthsDiffer,
    HeadShape::OtherMinorVersion,
};

struct LlhttpHead {
    bool is_taken = false;
    std::string why_not;
    std::size_t size = 0;
    std::string method, target;
    int major = 0;
    int minor = 0;
    bool is_chunked = false;
    std::uint64_t length = 0;
    std::vector<std::pair<std::string, std::string>> headers;
    bool was_value = true;  // the last part of a header that came
};

LlhttpHead& of(llhttp_t* parser) {
    return *static_cast<LlhttpHead*>(parser->data);
}

LlhttpHead read_head(std::string_view bytes) {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_method = [](llhttp_t* parser, const char* at, std::size_t size) {
        of(parser).method.append(at, size);
        return 0;
    };
    settings.on_url = [](llhttp_t* parser, const char* at, std::size_t size) {
        of(parser).target.append(at, size);
        return 0;
    };
    settings.on_header_field = [](llhttp_t* parser, const char* at, std::size_t size) {
        LlhttpHead& head = of(parser);
        if (std::exchange(head.was_value, false)) {
            head.headers.emplace_back();
        }
        head.headers.back().first.append(at, size);
        return 0;
    };
    settings.on_header_value = [](llhttp_t* parser, const char* at, std::size_t size) {
        LlhttpHead& head = of(parser);
        head.was_value = true;
        head.headers.back().second.append(at, size);
        return 0;
    };
    settings.on_headers_complete = [](llhttp_t* parser) -> int {
        LlhttpHead& head = of(parser);
        head.is_taken = true;
        head.major = parser->http_major;
        head.minor = parser->http_minor;
        head.is_chunked = (parser->flags & F_CHUNKED) != 0;
        head.length = (parser->flags & F_CONTENT_LENGTH) != 0 ? parser->content_length : 0;
        return HPE_PAUSED;
    };
    LlhttpHead head;
    llhttp_t parser;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = &head;
    const llhttp_errno_t error = llhttp_execute(&parser, bytes.data(), bytes.size());
    if (head.is_taken) {
        head.size = static_cast<std::size_t>(llhttp_get_error_pos(&parser) - bytes.data());
    } else if (error != HPE_OK) {
        head.why_not = llhttp_get_error_reason(&parser);
    }
    return head;
}

// Where the first message ends, its body included; nothing: it does not, or it is refused.
std::optional<std::size_t> message_size(std::string_view bytes) {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    bool is_complete = false;
    settings.on_message_complete = [](llhttp_t* parser) -> int {
        *static_cast<bool*>(parser->data) = true;
        return HPE_PAUSED;
    };
    llhttp_t parser;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    parser.data = &is_complete;
    (void)llhttp_execute(&parser, bytes.data(), bytes.size());
    if (!is_complete) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(llhttp_get_error_pos(&parser) - bytes.data());
}

bool is_method_of_llhttp(std::string_view method) {
    static constexpr std::array<std::string_view, 34> kMethods{
        "DELETE",     "GET",      "HEAD",       "POST",     "PUT",    "CONNECT",   "OPTIONS",
        "TRACE",      "COPY",     "LOCK",       "MKCOL",    "MOVE",   "PROPFIND",  "PROPPATCH",
        "SEARCH",     "UNLOCK",   "BIND",       "REBIND",   "UNBIND", "ACL",       "REPORT",
        "MKACTIVITY", "CHECKOUT", "MERGE",      "M-SEARCH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE",
        "PATCH",      "PURGE",    "MKCALENDAR", "LINK",     "UNLINK", "SOURCE"};
    return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

// Of targets, llhttp knows schemes of letters alone.
bool is_target_of_llhttp(std::string_view target) {
    const std::string_view scheme = target.substr(0, target.find("://"));
    return scheme.size() == target.size() || target.front() == '/' ||
           std::all_of(scheme.begin(), scheme.end(),
                       [](char c) { return http1::is_letter(static_cast<std::byte>(c)); });
}

std::string without_line_ends(std::string text) {
    std::erase_if(text, [](char c) { return c == '\r' || c == '\n'; });
    return text;
}

// Its first value; blanks around it, and line ends within, are no matter.
std::string first_value(const LlhttpHead& head, std::string_view lower_name) {
    for (const auto& [name, value] : head.headers) {
        if (http1::equals_ignoring_case(bytes_of(name), lower_name)) {
            return text(http1::without_blanks(bytes_of(value)));
        }
    }
    return "";
}

// Behind the values that frame a body, llhttp knows no HTAB: it refuses the length, and the request
// once it has found it not to be chunked.
bool has_tab_behind(const RequestHead& head) {
    const auto is_followed = [](ByteView value) {
        if (!http1::is_present(value)) {
            return false;
        }
        const std::byte* at = value.data() + value.size();
        while (*at == std::byte{' '}) {
            ++at;
        }
        return *at == std::byte{'\t'};
    };
    const HeaderText length = head.header(FramingHeader::ContentLength);
    const HeaderText encoding = head.header(FramingHeader::TransferEncoding);
    return is_followed(length.first) || is_followed(length.last) || is_followed(encoding.first) ||
           is_followed(encoding.last);
}

std::string compare_taken(const RequestHead& head, const LlhttpHead& other) {
    if (head.size != other.size) {
        return "size " + std::to_string(head.size) + ", not " + std::to_string(other.size);
    }
    if (text(head.method) != other.method || text(head.target) != other.target) {
        return "method or target, not " + other.method + " " + other.target;
    }
    const bool is_http1 =
        !head.shapes.has(HeadShape::BadVersion) && !head.shapes.has(HeadShape::OtherVersion);
    if (is_http1 && head.minor_version != other.minor) {
        return "minor version, not " + std::to_string(other.minor);
    }
    for (const HeadShape shape : kRefused) {
        if (head.shapes.has(shape)) {
            return "takes " + std::string{row_of(shape).name};
        }
    }
    // An empty Transfer-Encoding is none to llhttp, and the length counts.
    if (head.shapes.has(HeadShape::LengthAndEncoding) && other.is_chunked) {
        return "takes length_and_encoding";
    }
    for (std::size_t place = 0; place < wanted().headers().size(); ++place) {
        const HeaderText value = head.header(static_cast<std::uint8_t>(place));
        const std::string its = first_value(other, wanted().headers().name(place));
        if (without_line_ends(text(value.first)) != its) {
            return std::string{wanted().headers().name(place)} + ", not " + its;
        }
    }
    const bool is_trusted =
        head.body.kind != BodyFraming::Kind::UntilClose && !has_tab_behind(head);
    if (is_trusted && (head.body.kind == BodyFraming::Kind::Chunked) != other.is_chunked) {
        return "chunked";
    }
    return is_trusted && !other.is_chunked && head.body.length != other.length ? "length" : "";
}

// llhttp skips any CR before a request, and so does a service's reader.
bool has_bare_cr_first(std::string_view bytes) {
    const std::string_view skipped = bytes.substr(0, bytes.find_first_not_of("\r\n"));
    for (std::size_t i = 0; i < skipped.size(); ++i) {
        if (skipped[i] == '\r' && bytes.substr(i + 1, 1) != "\n") {
            return true;
        }
    }
    return false;
}

// A request that llhttp takes as HTTP/0.9 has headers, and an empty line. Ours ends with its line.
std::string compare_http09(const ParsedHead& ours, const LlhttpHead& other) {
    const bool is_same = text(ours.head.method) == other.method &&
                         text(ours.head.target) == other.target && ours.head.size <= other.size;
    return is_same ? "" : "another request of HTTP/0.9";
}

// Watched and unwatched, whole and in pieces.
std::string compare_message(std::string_view bytes, const RequestHead& head) {
    const std::optional<std::size_t> other = message_size(bytes);
    if (!other || head.upgrade != HttpUpgrade::None || text(head.method) == "CONNECT") {
        return "";
    }
    const ByteView behind = bytes_of(bytes.substr(head.size));
    for (const BodyWatch watch : {BodyWatch{}, watch_of(head)}) {
        for (const std::size_t piece : {std::max<std::size_t>(behind.size(), 1), std::size_t{3}}) {
            const BodyEnd end = follow_body(head.body, watch, behind, piece);
            if (!end.is_done || head.size + end.bytes != *other) {
                return "message of " + std::to_string(*other) + ", not " +
                       std::to_string(head.size + end.bytes);
            }
        }
    }
    return "";
}

}  // namespace

std::string disagreement_with_llhttp(std::string_view bytes) {
    const ParsedHead ours = parsed_for_service(bytes);
    const LlhttpHead other = read_head(bytes);
    if (other.is_taken) {
        if (other.size > kDefaultHeadLimit) {
            return "";
        }
        if (ours.status != HeadStatus::Complete) {
            return "is not complete";
        }
        if (ours.head.shapes.has(HeadShape::MissingVersion)) {
            return compare_http09(ours, other);
        }
        const std::string difference =
            has_bare_cr_first(bytes) ? "" : compare_taken(ours.head, other);
        return difference.empty() && !ours.head.ends_connection()
                   ? compare_message(bytes, ours.head)
                   : difference;
    }
    if (ours.status != HeadStatus::Complete || !is_method_of_llhttp(text(ours.head.method)) ||
        !is_target_of_llhttp(text(ours.head.target)) || has_tab_behind(ours.head)) {
        return "";
    }
    for (const HeadShape shape : kRefused) {
        if (ours.head.shapes.has(shape)) {
            return "";
        }
    }
    return ours.head.shapes.reading() == HeadReading::Accepted ? "llhttp refuses: " + other.why_not
                                                               : "";
}

}  // namespace sluice::test
