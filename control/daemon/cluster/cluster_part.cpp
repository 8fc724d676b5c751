#include "control/daemon/cluster/cluster_part.hpp"

#include "control/daemon/api/api.hpp"

#include <condition_variable>
#include <functional>
#include <utility>

namespace sluice {
namespace {

std::int64_t cluster_utc_ns() {
    return std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count();
}

void look_again(const std::stop_token& stop, std::chrono::milliseconds pause,
                const std::function<void()>& work) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock{mutex};
    while (!stop.stop_requested()) {
        work();
        (void)changed.wait_for(lock, stop, pause, [] { return false; });
    }
}

}  // namespace

ClusterPart::ClusterPart(const std::optional<ClusterOptions>& cluster,
                         std::optional<EtcdAccess> etcd, DataplaneLink& link,
                         const FleetBoard* board)
    : is_any_{cluster.has_value()},
      options_{cluster.value_or(ClusterOptions{})},
      etcd_{std::move(etcd)},
      link_{link},
      board_{board},
      log_{cluster_utc_ns()},
      reading_{etcd_ ? std::make_shared<const FleetReading>() : nullptr},
      box_watch_{log_, options_.node} {}

std::shared_ptr<const FleetReading> ClusterPart::reading() const {
    const std::lock_guard lock{mutex_};
    return reading_;
}

void ClusterPart::begin() {
    if (!is_any_) {
        return;
    }
    looks_ = std::jthread{
        [this](const std::stop_token& stop) { look_again(stop, kLook, [this] { look(); }); }};
    if (etcd_) {
        reads_ = std::jthread{[this](const std::stop_token& stop) {
            FleetStore store{connect_etcd(*etcd_, stop), options_.name};
            look_again(stop, kReadEtcd, [&] { read_etcd(store); });
        }};
    }
}

// The standing first: a panic of the cluster is in force before it stands there.
void ClusterPart::look() {
    const std::optional<FleetStatus> status =
        board_ == nullptr ? std::nullopt : std::optional{board_->status()};
    const Result<Stats> stats = ask_for<Stats>(link_, GetStats{});
    const StoreWatch::Clock::time_point now = StoreWatch::Clock::now();
    const std::int64_t utc_ns = cluster_utc_ns();
    if (stats) {
        store_watch_.see(stats->store, now, utc_ns);
    }
    if (status) {
        box_watch_.see(*status, stats ? std::optional{stats->panic} : std::nullopt, now, utc_ns);
    }
    if (std::shared_ptr<const FleetReading> reading = this->reading(); reading != seen_) {
        seen_ = std::move(reading);
        box_watch_.see(*seen_, utc_ns);
    }
}

void ClusterPart::read_etcd(FleetStore& store) {
    Result<FleetView> view = store.view();
    Result<std::vector<NodeRecord>> nodes = view ? store.nodes() : view.error();
    Result<std::vector<std::string>> drained = nodes ? store.drained() : nodes.error();
    Result<std::vector<std::string>> away =
        drained ? store.away(*nodes, *drained) : drained.error();
    FleetReading next;
    if (away) {
        next = {.view = *std::move(view),
                .nodes = *std::move(nodes),
                .drained = *std::move(drained),
                .away = *std::move(away),
                .read_at = std::chrono::steady_clock::now(),
                .was_read = true};
    } else {
        next = *reading();
        next.problem = away.error().what;
    }
    const std::lock_guard lock{mutex_};
    reading_ = std::make_shared<const FleetReading>(std::move(next));
}

}  // namespace sluice
