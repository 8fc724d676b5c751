#include "control/daemon/http_reply.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace sluice {
namespace {

struct FixedHeader {
    const char* name;
    const char* value;
};
constexpr auto kFixedHeaders = std::to_array<FixedHeader>({
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "require-trusted-types-for 'script'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "same-origin"},
});

void add_header(MHD_Response* out, const char* name, const std::string& value) {
    if (!value.empty()) {
        (void)MHD_add_response_header(out, name, value.c_str());
    }
}

void let_go_of(void* shared) noexcept {
    delete static_cast<std::shared_ptr<const std::string>*>(shared);
}

// A shared body is sent as it lies, and stays until it has been.
MHD_Response* shared_body(const std::shared_ptr<const std::string>& body) {
    auto kept = std::make_unique<std::shared_ptr<const std::string>>(body);
    MHD_Response* out = MHD_create_response_from_buffer_with_free_callback_cls(
        body->size(), const_cast<char*>(body->data()), let_go_of, kept.get());
    if (out != nullptr) {
        (void)kept.release();
    }
    return out;
}

MHD_Response* body_of(const HttpResponse& response) {
    if (response.shared != nullptr) {
        return shared_body(response.shared);
    }
    const bool is_fixed = !response.fixed.empty();
    const std::string_view body = is_fixed ? response.fixed : std::string_view{response.body};
    return MHD_create_response_from_buffer(
        body.size(), const_cast<char*>(body.data()),
        is_fixed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
}

}  // namespace

MHD_Result send_reply(MHD_Connection* connection, const HttpResponse& response, bool last) {
    MHD_Response* out = body_of(response);
    if (out == nullptr) {
        return MHD_NO;
    }
    for (const FixedHeader& header : kFixedHeaders) {
        (void)MHD_add_response_header(out, header.name, header.value);
    }
    add_header(out, MHD_HTTP_HEADER_CONTENT_TYPE, response.type);
    add_header(out, MHD_HTTP_HEADER_CONTENT_ENCODING, response.encoding);
    add_header(out, MHD_HTTP_HEADER_ALLOW, response.allow);
    add_header(out, MHD_HTTP_HEADER_ETAG, response.etag.empty() ? "" : '"' + response.etag + '"');
    add_header(out, MHD_HTTP_HEADER_RETRY_AFTER,
               response.retry_after == 0 ? "" : std::to_string(response.retry_after));
    bool says_how_long = false;
    for (const auto& [name, value] : response.headers) {
        says_how_long = says_how_long || name == MHD_HTTP_HEADER_CACHE_CONTROL;
        add_header(out, name.c_str(), value);
    }
    add_header(out, MHD_HTTP_HEADER_CACHE_CONTROL, says_how_long ? "" : "no-store");
    if (response.status == MHD_HTTP_UNAUTHORIZED) {
        add_header(out, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"sluice\"");
    }
    add_header(out, MHD_HTTP_HEADER_CONNECTION, last ? "close" : "");
    const MHD_Result queued = MHD_queue_response(connection, response.status, out);
    MHD_destroy_response(out);
    return queued;
}

}  // namespace sluice
