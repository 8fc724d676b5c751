#pragma once
#include "control/cli/explain/service_account.hpp"
#include "control/cli/replay/setup.hpp"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace sluice {

// A capture's frames as the services of rule files treat them. Their rules act on none: a frame
// that a service forwards goes on.
class ServiceColumn {
public:
    // nullptr: no rule file is named. Errors are on standard error.
    [[nodiscard]] static std::variant<std::unique_ptr<ServiceColumn>, ExitCode> make(
        const Options& options);

    // nullopt: the frame is of no service. Frames are told in their order.
    [[nodiscard]] std::optional<ServiceAccount> next(const CapturedFrame& frame);

private:
    ServiceColumn(ReplaySetup setup, ReplayRules rules)
        : setup_{std::move(setup)}, rules_{std::move(rules)}, workers_{setup_, rules_.loaded} {}

    ReplaySetup setup_;
    ReplayRules rules_;
    WorkerSet workers_;
    KeptFrame frame_;
    Instant now_{};
};

// "web passed", "web dropped bad_ack": the service's id, what it made of the frame, and why.
[[nodiscard]] std::string column_text(const ServiceAccount& account);

}  // namespace sluice
