#include "control/daemon/request_head.hpp"

#include <microhttpd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

MHD_Result add_argument(void* into, MHD_ValueKind, const char* key, const char* value) {
    auto& request = *static_cast<HttpRequest*>(into);
    const bool is_new = request.query.emplace(key, value == nullptr ? "" : value).second;
    if (!is_new && *key != '\0') {
        request.repeated = key;
    }
    return MHD_YES;
}

FirstLine* first_line_of(MHD_Connection* connection) noexcept {
    const MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == nullptr ? nullptr : static_cast<FirstLine*>(info->socket_context);
}

// True if nothing but blanks lies between the end of the name and the value.
bool is_beside(std::string_view name, const char* value) noexcept {
    constexpr std::ptrdiff_t kMostBlanks = 1 << 16;            // of a head of the library's memory
    const char* const behind = name.data() + name.size() + 1;  // its colon, which is a NUL now
    const std::ptrdiff_t gap = value - behind;
    return gap >= 0 && gap < kMostBlanks &&
           std::all_of(behind, value, [](char c) { return c == ' ' || c == '\t'; });
}

// The library calls this for each header.
// NOLINTNEXTLINE(readability-function-size)
MHD_Result add_request_header(void* into, MHD_ValueKind, const char* name, std::size_t name_size,
                              const char* value, std::size_t value_size) {
    auto& headers = *static_cast<RequestHeaders*>(into);
    headers.add({name, name_size}, {value, value == nullptr ? 0 : value_size});
    if (value != nullptr && !is_beside(name, value)) {
        headers.mark_folded();
    }
    return MHD_YES;
}

// The headers of a head one after another, as they lie in it.
struct HeadWalk {
    const char* end = nullptr;  // of the value before
    bool is_whole = true;

    // The library has put NULs in place of line ends, and leaves those that came.
    void reach(const char* next, std::ptrdiff_t most_ends) noexcept {
        constexpr std::ptrdiff_t kMostBlanks = 1 << 16;
        if (end == nullptr) {
            return;
        }
        const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
        const auto is_end = [](char c) { return c == '\0' || c == '\r' || c == '\n'; };
        const std::ptrdiff_t gap = next - end;
        is_whole = is_whole && gap > 0 && gap < kMostBlanks &&
                   std::count_if(end, next, is_end) <= most_ends &&
                   std::all_of(end, next, [&](char c) { return is_blank(c) || is_end(c); });
    }
};

// The library calls this for each header, in their order.
// NOLINTNEXTLINE(readability-function-size)
MHD_Result walk_header(void* into, MHD_ValueKind, const char* name, std::size_t, const char* value,
                       std::size_t value_size) {
    auto& walk = *static_cast<HeadWalk*>(into);
    walk.reach(name, 2);
    walk.end = value == nullptr ? nullptr : value + value_size;
    return MHD_YES;
}

}  // namespace

bool has_control_byte(std::string_view address) noexcept {
    for (std::size_t i = 0; i < address.size(); ++i) {
        unsigned byte = static_cast<unsigned char>(address[i]);
        if (byte == '%' && address.size() - i > 2) {
            const char* const first = address.data() + i + 1;
            unsigned escaped = 0;
            const bool is_whole = std::from_chars(first, first + 2, escaped, 16).ptr == first + 2;
            byte = is_whole ? escaped : byte;
        }
        if (byte < ' ' || byte == 0x7f) {
            return true;
        }
    }
    return false;
}

void note_address(MHD_Connection* connection, const char* address) noexcept {
    if (FirstLine* line = first_line_of(connection)) {
        const std::string_view text{address};
        line->behind_address = has_control_byte(text) ? nullptr : text.data() + text.size() + 1;
    }
}

bool is_whole_address(MHD_Connection* connection, const char* version) noexcept {
    const FirstLine* line = first_line_of(connection);
    return line != nullptr && line->behind_address == version;
}

bool is_whole_head(MHD_Connection* connection, const char* method) {
    const MHD_ConnectionInfo* info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info == nullptr) {
        return false;
    }
    HeadWalk walk;
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, walk_header, &walk);
    walk.reach(method + info->header_size, 4);
    return walk.is_whole;
}

void read_arguments(MHD_Connection* connection, HttpRequest& request) {
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_argument, &request);
}

bool promises_more_than(std::size_t most, MHD_Connection* connection) {
    const char* value =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (value == nullptr) {
        return false;
    }
    const std::string_view text{value};
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    return error != std::errc{} || length > most;
}

RequestHeaders headers_of(MHD_Connection* connection) {
    RequestHeaders headers;
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_request_header, &headers);
    return headers;
}

std::optional<HttpResponse> fault_of_head(const RequestHeaders& headers) {
    const std::size_t conditions = headers.times("if-match");
    if (conditions > 1 || (conditions == 1 && headers.value("if-match").empty())) {
        return problem_response(400, "bad request",
                                "If-Match stands once, and names a generation, or the ETag "
                                "that GET /v1/rules has");
    }
    if (headers.times("content-length") + headers.times("transfer-encoding") > 1) {
        return problem_response(400, "bad request",
                                "the head says twice where the body ends: one Content-Length, "
                                "or one Transfer-Encoding");
    }
    return std::nullopt;
}

void read_terms(const RequestHeaders& headers, HttpRequest& request) {
    request.if_match = headers.value("if-match");
    request.content_type = headers.value("content-type");
    request.accept_encoding = headers.value("accept-encoding");
    request.if_none_match = headers.value("if-none-match");
}

void take_speaker(Speaker speaker, HttpRequest& request) {
    request.peer = speaker.peer;
    request.source = std::move(speaker.source);
    request.role = speaker.role;
    request.way = speaker.way;
    request.user = std::move(speaker.user);
    request.session = std::move(speaker.session);
    request.tenant = std::move(speaker.tenant);
    request.reads_as = speaker.reads_as;
}

}  // namespace sluice
