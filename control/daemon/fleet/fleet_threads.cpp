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

FleetThreads::FleetThreads(const FleetAccess& access, FleetBoard& board, FleetFollower::Box box,
                           FleetState state)
    : etcd_{access.etcd},
      board_{board},
      disk_{box.state_dir, std::move(state)},
      member_{connect(), board, disk_.state(), access.secret},
      follower_{connect(), board, box, disk_},
      panic_{connect(), board, disk_, {box.link, box.audit}},
      settings_{connect(), board, {box.rules, box.link, box.audit, box.state_dir}} {
    const FleetState before = disk_.state();
    board_.change_record([&](NodeRecord& record) {
        record.host = host_name();
        record.panic = before.panic;
        record.in_force = before.adopted;  // changes of this box alone are asked for it at once
    });
    follower_thread_ = std::jthread{[this](const std::stop_token& stop) { follow_rules(stop); }};
    panic_thread_ = std::jthread{[this](const std::stop_token& stop) { follow_panic(stop); }};
    settings_thread_ = std::jthread{[this](const std::stop_token& stop) { follow_settings(stop); }};
    member_thread_ = std::jthread{[this](const std::stop_token& stop) { keep_member(stop); }};
    watch_thread_ = std::jthread{[this](const std::stop_token& stop) { watch(stop); }};
}

FleetThreads::~FleetThreads() {
    (void)ending_.request_stop();
    for (std::jthread* const thread :
         {&follower_thread_, &panic_thread_, &settings_thread_, &member_thread_, &watch_thread_}) {
        (void)thread->request_stop();
    }
}

FleetStore FleetThreads::connect() {
    return {connect_etcd(etcd_, ending_.get_token()), board_.options().name};
}

// sluiced that stops gives no slot back: it finds its own when it starts anew.
void FleetThreads::keep_member(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const std::uint64_t edition = board_.edition();
        member_.tick(FleetMember::Clock::now());
        if (const auto slot = member_.slot(); slot && slot != disk_.state().slot) {
            if (const Result<Done> done =
                    disk_.change([&](FleetState& state) { state.slot = slot; });
                !done) {
                spdlog::warn("{}", done.error().what);
            }
        }
        board_.wait(stop, edition, kTick);
    }
}

bool FleetThreads::wait(const std::stop_token& stop, Hints& hints) {
    std::unique_lock lock{mutex_};
    (void)hinted_.wait_for(lock, stop, kTick, [&] { return hints_ != hints.seen; });
    return std::exchange(hints.seen, hints_) != hints_;
}

void FleetThreads::follow_rules(const std::stop_token& stop) {
    Hints hints;
    while (!stop.stop_requested()) {
        const bool hinted = wait(stop, hints);
        follower_.tick(FleetFollower::Clock::now(), hinted);
    }
}

void FleetThreads::follow_panic(const std::stop_token& stop) {
    Hints hints;
    while (!stop.stop_requested()) {
        const bool hinted = wait(stop, hints);
        panic_.tick(FleetPanic::Clock::now(), hinted);
    }
}

void FleetThreads::follow_settings(const std::stop_token& stop) {
    Hints hints;
    while (!stop.stop_requested()) {
        const bool hinted = wait(stop, hints);
        settings_.tick(SettingsFollower::Clock::now(), hinted);
    }
}

void FleetThreads::watch(const std::stop_token& stop) {
    const FleetKeys keys{board_.options().name};
    while (!stop.stop_requested()) {
        watch_etcd(etcd_,
                   {{.key = keys.head()},
                    {.key = keys.rollout()},
                    {.key = keys.panic()},
                    {.key = keys.setting_number()}},
                   stop, [this] { hint(); });
        std::unique_lock lock{mutex_};
        (void)hinted_.wait_for(lock, stop, kWatchAgain, [&] { return stop.stop_requested(); });
    }
}

void FleetThreads::hint() {
    {
        const std::lock_guard lock{mutex_};
        ++hints_;
    }
    hinted_.notify_all();
}

}  // namespace sluice
