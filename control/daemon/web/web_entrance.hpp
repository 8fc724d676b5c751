#pragma once
#include "control/daemon/entrance.hpp"
#include "control/daemon/web/web_access.hpp"

namespace sluice {

// The listener of the dashboard. To reach it gives nobody any authority.
class WebEntrance final : public Entrance {
public:
    // `web` outlives it.
    explicit WebEntrance(WebAccess& web) : web_{web} {}

    [[nodiscard]] std::variant<Speaker, TurnedBack> admit(const Visit& visit) override;
    [[nodiscard]] AdmissionPolicy admission() override;

private:
    [[nodiscard]] bool is_socket() const noexcept { return !web_.options().path.empty(); }

    WebAccess& web_;
};

}  // namespace sluice
