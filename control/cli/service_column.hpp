#pragma once
#include "control/cli/replay/setup.hpp"
#include "control/explain/service_account.hpp"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace sluice {

// A frame as services see it.
struct ServiceSight {
    std::optional<ServiceAccount> account{};  // nullopt: it is of no service
    // The connection is read from here on by nobody: in its first doubt, or for want of room.
    bool goes_unread = false;
};

// A capture's frames as the services of rule files treat them. Their rules act on none: a frame
// that a service forwards goes on.
class ServiceColumn {
public:
    // nullptr: no rule file is named. Errors are on standard error.
    [[nodiscard]] static std::variant<std::unique_ptr<ServiceColumn>, ExitCode> make(
        const Options& options);

    // Frames are told in their order.
    [[nodiscard]] ServiceSight next(const CapturedFrame& frame);

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
// The stance that later layers of a frame with ports are read in, "service" or "anywhere", and
// "unread" behind it where its connection goes unread; empty of other frames.
[[nodiscard]] std::string reading_text(const ServiceSight& sight, const PacketHeaders& headers);
// {"stance": "service", "goes_unread": false}; null of other frames.
[[nodiscard]] Json reading_json(const ServiceSight& sight, const PacketHeaders& headers);

}  // namespace sluice
