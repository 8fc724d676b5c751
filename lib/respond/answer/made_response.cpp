#include "lib/respond/answer/made_response.hpp"

#include "lib/l7/http1/byte_classes.hpp"
#include "lib/respond/answer/http_date.hpp"
#include "lib/respond/answer/tcp_answer.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

using Number = NumberedText::Number;

struct ReasonPhrase {
    std::uint16_t status;
    std::string_view phrase;
};
constexpr auto kReasonPhrases = std::to_array<ReasonPhrase>({
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {410, "Gone"},
    {429, "Too Many Requests"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
});

// Fields that the response writes itself, or that would change how it is framed.
constexpr auto kOwnFields = std::to_array<std::string_view>(
    {"cache-control", "connection", "content-length", "content-type", "keep-alive", "ratelimit",
     "ratelimit-policy", "retry-after", "te", "trailer", "transfer-encoding", "upgrade",
     "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"});

// A header that a status must come with (RFC 9110, 15).
struct NeededField {
    std::uint16_t status;
    std::string_view name;
};
constexpr auto kNeededFields = std::to_array<NeededField>({
    {401, "www-authenticate"},
    {405, "allow"},
    {407, "proxy-authenticate"},
});

// A status that says what a made response cannot do (RFC 9110, 15).
struct ImpossibleStatus {
    std::uint16_t status;
    std::string_view why;
};
constexpr auto kImpossibleStatuses = std::to_array<ImpossibleStatus>({
    {206, "sends a part of something, which only who has all of it can"},
    {416, "says which parts of something there are, which only who has it knows"},
    {426, "keeps the connection for another protocol, and every response here ends it"},
});

constexpr std::string_view kDateField = "Date: ";

constexpr bool has_content(std::uint16_t status) noexcept {
    return status != 204 && status != 205 && status != 304;
}
// True if the end of such a response is said by its status alone.
constexpr bool has_no_length(std::uint16_t status) noexcept {
    return status == 204 || status == 304;
}

std::string lower(std::string_view text) {
    std::string out{text};
    std::ranges::transform(out, out.begin(), [](char c) {
        return static_cast<char>(http1::to_lower(static_cast<std::byte>(c)));
    });
    return out;
}

bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::ranges::all_of(bytes_of(text), [](std::byte byte) {
        return http1::is(byte, http1::kToken);
    });
}

// RFC 9110, 5.5: no control characters but tabs, and no blanks at its ends.
bool is_field_value(std::string_view text) noexcept {
    const ByteView bytes = bytes_of(text);
    const bool blank_end =
        !bytes.empty() && (http1::is_blank(bytes.front()) || http1::is_blank(bytes.back()));
    return !blank_end && std::ranges::none_of(bytes, [](std::byte byte) {
        return http1::is_control(byte) && byte != std::byte{'\t'};
    });
}

bool is_printable(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool names_field(const ResponseSpec& spec, std::string_view name) {
    return std::ranges::any_of(spec.fields,
                               [&](const auto& field) { return lower(field.name) == name; });
}

std::optional<Error> find_fault(const ResponseSpec& spec) {
    if (spec.status < 200 || spec.status > 599) {
        return Error{Errc::OutOfRange,
                     "status " + std::to_string(spec.status) + ": a final one is from 200 to 599"};
    }
    const auto* const impossible =
        std::ranges::find(kImpossibleStatuses, spec.status, &ImpossibleStatus::status);
    if (impossible != kImpossibleStatuses.end()) {
        return Error{Errc::BadSyntax, "a response with status " + std::to_string(spec.status) +
                                          " " + std::string{impossible->why}};
    }
    if (!has_content(spec.status) && spec.body && !spec.body->empty()) {
        return Error{Errc::BadSyntax,
                     "a response with status " + std::to_string(spec.status) + " has no body"};
    }
    for (const auto& [name, value] : spec.fields) {
        if (!is_token(name)) {
            return Error{Errc::BadSyntax, "`" + name + "` is no name of a header"};
        }
        if (std::ranges::find(kOwnFields, lower(name)) != kOwnFields.end()) {
            return Error{Errc::BadSyntax, "`" + name + "` is a header that the box writes"};
        }
        if (!is_field_value(value)) {
            return Error{Errc::BadSyntax, "the value of header `" + name +
                                              "` has control characters or blanks at its ends"};
        }
    }
    for (const auto& [status, name] : kNeededFields) {
        if (status == spec.status && !names_field(spec, name)) {
            return Error{Errc::BadSyntax, "a response with status " + std::to_string(status) +
                                              " needs the header `" + std::string{name} + "`"};
        }
    }
    if (!is_field_value(spec.content_type)) {
        return Error{Errc::BadSyntax, "the content type is no value of a header"};
    }
    if (!is_printable(spec.policy)) {
        return Error{Errc::BadSyntax, "the name of a policy is printable ASCII"};
    }
    return std::nullopt;
}

// A String of RFC 9651, 3.3.3, which of these characters is one of RFC 8259 too.
std::string quoted(std::string_view text) {
    std::string out{"\""};
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c;
    }
    return out + '"';
}

std::string problem_details(const ResponseSpec& spec) {
    return "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
           "\"title\":\"Quota Exceeded\",\"status\":" +
           std::to_string(spec.status) + ",\"violated-policies\":[" + quoted(spec.policy) + "]}";
}

bool sends_problem_details(const ResponseSpec& spec) noexcept {
    return !spec.body && !spec.policy.empty() && has_content(spec.status);
}

std::string content_type_of(const ResponseSpec& spec) {
    if (!spec.content_type.empty()) {
        return spec.content_type;
    }
    return sends_problem_details(spec) ? "application/problem+json" : "text/plain; charset=utf-8";
}

std::string status_line(std::uint16_t status) {
    const auto* const row = std::ranges::find(kReasonPhrases, status, &ReasonPhrase::status);
    return "HTTP/1.1 " + std::to_string(status) + ' ' +
           std::string{row == kReasonPhrases.end() ? "" : row->phrase} + "\r\n";
}

void add_framing(NumberedText& head, const ResponseSpec& spec, const std::string& body) {
    if (!body.empty()) {
        head.add("Content-Type: " + content_type_of(spec) + "\r\n");
    }
    if (!has_no_length(spec.status)) {
        head.add("Content-Length: " + std::to_string(body.size()) + "\r\n");
    }
    head.add("Cache-Control: no-store\r\nConnection: close\r\n");
}

std::string_view unit_parameter(QuotaUnit unit) noexcept {
    switch (unit) {
        case QuotaUnit::ContentBytes:
            return ";qu=\"content-bytes\"";
        case QuotaUnit::ConcurrentRequests:
            return ";qu=\"concurrent-requests\"";
        default:
            return "";
    }
}

void add_policy(NumberedText& head, const ResponseSpec& spec) {
    const std::string name = quoted(spec.policy);
    head.add("Retry-After: ", Number::RetryAfter);
    head.add_with(Number::RetryAfter, "\r\n");
    head.add("RateLimit-Policy: " + name + ";q=", Number::Quota);
    head.add(unit_parameter(spec.unit));
    head.add(";w=", Number::Window);
    head.add("\r\nRateLimit: " + name + ";r=", Number::Remaining);
    head.add(";t=", Number::RetryAfter);
    head.add("\r\n");
    if (spec.x_rate_limit) {
        head.add("X-RateLimit-Limit: ", Number::Quota);
        head.add("\r\nX-RateLimit-Remaining: ", Number::Remaining);
        head.add("\r\n");
        head.add("X-RateLimit-Reset: ", Number::RetryAfter);
        head.add_with(Number::RetryAfter, "\r\n");
    }
}

}  // namespace

Result<MadeResponse> MadeResponse::compile(const ResponseSpec& spec) {
    if (const auto fault = find_fault(spec)) {
        return *fault;
    }
    MadeResponse made;
    made.body_ = sends_problem_details(spec) ? problem_details(spec) : spec.body.value_or("");
    const std::string first_line = status_line(spec.status);
    made.head_.add(first_line);
    if (!names_field(spec, "date")) {
        made.date_at_ = first_line.size() + kDateField.size();
        made.head_.add(std::string{kDateField} + std::string(kHttpDateSize, ' ') + "\r\n");
    }
    for (const auto& [name, value] : spec.fields) {
        made.head_.add(name + ": " + value + "\r\n");
    }
    add_framing(made.head_, spec, made.body_);
    if (!spec.policy.empty()) {
        add_policy(made.head_, spec);
    }
    made.head_.add("\r\n");
    if (made.max_size() > kMostResponseBytes) {
        return Error{Errc::OutOfRange, "the response may take " + std::to_string(made.max_size()) +
                                           " bytes, and " + std::to_string(kMostResponseBytes) +
                                           " fit in the three segments that every client takes"};
    }
    return made;
}

std::size_t MadeResponse::write(const QuotaNumbers& numbers, bool is_head_request,
                                std::string_view date, MutableBytes to) const noexcept {
    const std::size_t head = head_.write(numbers, to);
    put_date(date, to);
    const std::size_t body = is_head_request ? 0 : body_.size();
    std::ranges::copy(bytes_of(body_).first(body), to.subspan(head).begin());
    return head + body;
}

void MadeResponse::put_date(std::string_view date, MutableBytes response) const noexcept {
    if (date_at_ != 0) {
        std::ranges::copy(bytes_of(date), response.subspan(date_at_).begin());
    }
}

}  // namespace sluice
