#pragma once
#include "control/daemon/entrance.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/web/request_headers.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

struct MHD_Connection;

// The head of a request as the library has it, before the request is one of ours.
namespace sluice {

// An address has a control byte, escaped or as it is, but for a NUL as it is, behind which the
// library has no text. It ends texts at an escaped one too: `forgive=1%00` would be taken for
// `forgive=1`.
[[nodiscard]] bool has_control_byte(std::string_view address) noexcept;

// The first line of the latest request of a connection, which the library cuts in place: behind the
// NUL that ends its address stands its version, unless the address has a NUL itself. The context of
// the connection's socket.
struct FirstLine {
    const char* behind_address = nullptr;  // nullptr: the address has another control byte
};
// Called with the address before the library cuts off its query.
void note_address(MHD_Connection* connection, const char* address) noexcept;
// The address that was noted is all of the request's, and has no control byte. `version` is the
// library's.
[[nodiscard]] bool is_whole_address(MHD_Connection* connection, const char* version) noexcept;

// Nothing of the head stands behind a NUL, where the library's headers end: a proxy in front may
// read more of such a value. `method` is the library's, the first byte of the head.
[[nodiscard]] bool is_whole_head(MHD_Connection* connection, const char* method);

// The arguments of its query, of which none is to stand there twice.
void read_arguments(MHD_Connection* connection, HttpRequest& request);

// The head already promises more bytes than `most`.
[[nodiscard]] bool promises_more_than(std::size_t most, MHD_Connection* connection);

// The headers, as long as the request lasts. One that goes on in another line is marked: the
// library cuts headers in place, and moves such a value away from its name.
[[nodiscard]] RequestHeaders headers_of(MHD_Connection* connection);
// The fault of a head that says twice where the body ends: a front end may read it otherwise,
// and take for the next request what is a part of this one (RFC 9112 6.3, 11.2). An If-Match
// that names nothing, or twice, is no condition that its sender meant.
[[nodiscard]] std::optional<HttpResponse> fault_of_head(const RequestHeaders& headers);
// The headers that calls go by are noted in the request.
void read_terms(const RequestHeaders& headers, HttpRequest& request);
// The one who asks, as an entrance knows them.
void take_speaker(Speaker speaker, HttpRequest& request);

}  // namespace sluice
