#include "control/daemon/request_head.hpp"

#include <microhttpd.h>

#include <charconv>
#include <system_error>

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

void read_arguments(MHD_Connection* connection, HttpRequest& request) {
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_argument, &request);
}

bool promises_too_much(MHD_Connection* connection) {
    const char* value =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (value == nullptr) {
        return false;
    }
    const std::string_view text{value};
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    return error != std::errc{} || length > kMaxBody;
}

}  // namespace sluice
