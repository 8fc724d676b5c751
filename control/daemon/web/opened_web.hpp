#pragma once
#include "control/daemon/settings.hpp"
#include "control/daemon/web/web_access.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace sluice {

// The parts of the dashboard that are opened with the rights that sluiced starts with.
struct OpenedWeb {
    Fd listener;  // by TCP; a Unix socket is made by the user that sluiced runs as
    std::vector<TrustedProxy> proxies;
};
// Nothing where sluice.yaml has no `web`.
[[nodiscard]] Result<std::optional<OpenedWeb>> open_web(const Settings& settings);

// Everybody on the box may connect to it: that alone gives nobody any authority.
[[nodiscard]] SocketOptions web_socket_of(const WebOptions& web);

// nullptr: there is no dashboard. Else the log is told who can reach it.
[[nodiscard]] std::unique_ptr<WebAccess> make_web_access(const Settings& settings,
                                                         std::optional<OpenedWeb>& opened,
                                                         Audit& audit, ApiCounters& counters);

}  // namespace sluice
