#pragma once
#include "control/daemon/http.hpp"

#include <string_view>

struct MHD_Connection;

// The head of a request as the library has it, before the request is one of ours.
namespace sluice {

// An address has a control byte, escaped or as it is. The library ends texts at an escaped NUL:
// `forgive=1%00` would be taken for `forgive=1`.
[[nodiscard]] bool has_control_byte(std::string_view address) noexcept;

// The arguments of its query, of which none is to stand there twice.
void read_arguments(MHD_Connection* connection, HttpRequest& request);

// The head already promises more than is taken.
[[nodiscard]] bool promises_too_much(MHD_Connection* connection);

}  // namespace sluice
