#pragma once
#include "control/json.hpp"
#include "control/replay/service_outcome.hpp"
#include "lib/policy/compile.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// The frames of a capture that belong to services, counted by what became of them.
class ServiceTally {
public:
    struct Row {
        std::string id;
        ServiceProtocol protocol = ServiceProtocol::Http;
        Mode mode = Mode::Off;  // as replayed
        std::uint64_t from_clients = 0;
        std::uint64_t segments_from_clients = 0;  // of TCP, among these
        std::uint64_t from_servers = 0;
        std::uint64_t rewritten = 0;
        std::array<std::uint64_t, kReasonCount> refused{};
        std::array<std::uint64_t, kReasonCount> would_refuse{};

        [[nodiscard]] std::uint64_t frames() const noexcept { return from_clients + from_servers; }
    };

    ServiceTally() = default;
    // All services of the file, in its order; the set leaves out those that are off.
    ServiceTally(const std::vector<ServiceSummary>& summaries, const LoadedServices& running);

    void count(const ServiceOutcome& outcome);
    [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }
    void count_from_inside() noexcept { ++from_inside_; }
    // A warning, with its cause, for each service that follows both directions and whose clients
    // alone were seen.
    [[nodiscard]] std::vector<std::string> without_servers() const;

private:
    std::vector<Row> rows_;
    std::uint64_t from_inside_ = 0;  // frames, of services or not
    struct Place {
        std::size_t row = 0;
        bool sees_both = true;
    };
    std::vector<Place> places_;  // by index in the set
};

[[nodiscard]] Json services_json(const ServiceTally& tally);
// A table of the services, and one of the reasons for which they refuse, or would.
[[nodiscard]] std::string services_text(const ServiceTally& tally);

}  // namespace sluice
