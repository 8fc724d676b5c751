#pragma once
#include "control/daemon/http.hpp"

#include <microhttpd.h>

namespace sluice {

// Queues the answer to a request. Every answer has the headers that keep browsers from guessing,
// framing, keeping or running it. `last`: the connection ends with it.
[[nodiscard]] MHD_Result send_reply(MHD_Connection* connection, const HttpResponse& response,
                                    bool last = false);

}  // namespace sluice
