#pragma once
#include "control/daemon/fleet/fleet_settings.hpp"
#include "control/daemon/fleet/fleet_state.hpp"
#include "control/fleet/fleet_records.hpp"
#include "lib/rules/cluster_options.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

// The box's standing in its cluster.
enum class Membership : std::uint8_t { Joining, Member, Refused, Away, Drained };
inline constexpr auto kMembershipNames =
    std::to_array<std::string_view>({"joining", "member", "refused", "away", "drained"});

// A box without a slot follows nobody; one that cannot reach etcd goes on.
[[nodiscard]] constexpr bool is_of_cluster(Membership membership) noexcept {
    return membership == Membership::Member || membership == Membership::Away;
}

// News between the threads of the cluster, the API and etcd.
struct FleetStatus {
    Membership membership = Membership::Joining;
    std::string why{};  // it is no member
    NodeRecord record{};
    std::uint64_t head = 0;           // generation that etcd has; 0: none is known
    std::uint64_t joined = 0;         // times that a slot was taken
    std::uint64_t etcd_failures = 0;  // calls that had no answer
};

// Shared by the threads, behind a lock of its own; a change of the record wakes who tells etcd.
class FleetBoard {
public:
    explicit FleetBoard(ClusterOptions options) : options_{std::move(options)} {}

    [[nodiscard]] const ClusterOptions& options() const noexcept { return options_; }
    [[nodiscard]] FleetStatus status() const {
        const std::lock_guard lock{mutex_};
        return status_;
    }
    // Another number after each change of the record.
    [[nodiscard]] std::uint64_t edition() const {
        const std::lock_guard lock{mutex_};
        return edition_;
    }
    void change(const std::function<void(FleetStatus&)>& change) {
        const std::lock_guard lock{mutex_};
        change(status_);
    }
    void change_record(const std::function<void(NodeRecord&)>& change) {
        {
            const std::lock_guard lock{mutex_};
            change(status_.record);
            ++edition_;
        }
        changed_.notify_all();
    }
    // The cluster's settings of single keys, as far as the box has followed; never nullptr.
    [[nodiscard]] std::shared_ptr<const FleetSettings> settings() const {
        const std::lock_guard lock{mutex_};
        return settings_;
    }
    void set_settings(FleetSettings settings) {
        const std::lock_guard lock{mutex_};
        settings_ = std::make_shared<const FleetSettings>(std::move(settings));
    }
    // Until the record is another than that of this edition, or the time is over.
    void wait(const std::stop_token& stop, std::uint64_t edition, std::chrono::milliseconds most) {
        std::unique_lock lock{mutex_};
        (void)changed_.wait_for(lock, stop, most, [&] { return edition_ != edition; });
    }

private:
    ClusterOptions options_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    FleetStatus status_;
    std::shared_ptr<const FleetSettings> settings_ = std::make_shared<const FleetSettings>();
    std::uint64_t edition_ = 0;
};

}  // namespace sluice
