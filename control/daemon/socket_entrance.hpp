#pragma once
#include "control/daemon/api_counters.hpp"
#include "control/daemon/entrance.hpp"
#include "control/daemon/web/web_access.hpp"

#include <string>

namespace sluice {

// By a Unix socket: root, the user that sluiced runs as, and the socket's owner and group have its
// role; whoever says the token of a session has that session's.
class SocketEntrance final : public Entrance {
public:
    // `web` is nullptr where there is no dashboard; it and `counters` outlive this.
    SocketEntrance(std::string path, Role role, ApiCounters& counters, WebAccess* web)
        : path_{std::move(path)}, role_{role}, counters_{counters}, web_{web} {}

    [[nodiscard]] std::variant<Speaker, TurnedBack> admit(const Visit& visit) override;
    [[nodiscard]] AdmissionPolicy admission() override { return {}; }

private:
    std::string path_;
    Role role_;
    ApiCounters& counters_;
    WebAccess* web_;
};

// `uid 1000`, as the audit names those who have no name of their own.
[[nodiscard]] std::string uid_text(uid_t uid);

}  // namespace sluice
