#include "control/daemon/fleet/fleet_threads.hpp"

#include "control/daemon/rule_compile.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kTick{500};
constexpr std::chrono::milliseconds kWatchAgain{1'000};

std::string host_name() {
    std::array<char, 256> name{};
    (void)::gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace

FleetThreads::FleetThreads(const EtcdAccess& etcd, FleetBoard& board, FleetFollower::Box box,
                           FleetState state)
    : etcd_{etcd},
      board_{board},
      member_{FleetStore{connect_etcd(etcd), board.options().name}, board, state.incarnation,
              state.slot},
      follower_{FleetStore{connect_etcd(etcd), board.options().name}, board, std::move(box),
                std::move(state)} {
    board_.change_record([](NodeRecord& record) { record.host = host_name(); });
    follower_thread_ = std::jthread{[this](const std::stop_token& stop) { follow_rules(stop); }};
    member_thread_ = std::jthread{[this](const std::stop_token& stop) { keep_member(stop); }};
    watch_thread_ = std::jthread{[this](const std::stop_token& stop) { watch(stop); }};
}

// sluiced that stops gives no slot back: whoever starts it anew finds its own.
void FleetThreads::keep_member(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::uint64_t edition = board_.edition();
        member_.tick(FleetMember::Clock::now());
        board_.wait(stop, edition, kTick);
    }
}

void FleetThreads::follow_rules(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        bool hinted = false;
        {
            std::unique_lock lock{mutex_};
            (void)hinted_.wait_for(lock, stop, kTick, [this] { return is_hinted_; });
            hinted = std::exchange(is_hinted_, false);
        }
        if (const FleetStatus status = board_.status(); status.membership == Membership::Member) {
            follower_.keep_slot(status.record.slot);
        }
        follower_.tick(FleetFollower::Clock::now(), hinted);
    }
}

void FleetThreads::watch(const std::stop_token& stop) {
    const FleetKeys keys{board_.options().name};
    while (!stop.stop_requested()) {
        watch_etcd(etcd_, {{.key = keys.head()}, {.key = keys.rollout()}, {.key = keys.panic()}},
                   stop, [this] { hint(); });
        std::unique_lock lock{mutex_};
        (void)hinted_.wait_for(lock, stop, kWatchAgain, [&] { return stop.stop_requested(); });
    }
}

void FleetThreads::hint() {
    {
        const std::lock_guard lock{mutex_};
        is_hinted_ = true;
    }
    hinted_.notify_all();
}

}  // namespace sluice
