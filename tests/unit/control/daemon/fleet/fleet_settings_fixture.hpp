#pragma once
#include "control/daemon/fleet/settings_desk.hpp"
#include "control/daemon/fleet/settings_follower.hpp"
#include "tests/unit/control/daemon/keeper_fixture.hpp"
#include "tests/unit/control/fleet/fake_etcd.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace sluice::fleet_settings_test {

using fleet_test::FakeEtcd;
using fleet_test::FakeTransport;
using What = KeySetting::What;

inline KeySetting ban_of(const std::string& key, const std::string& reason = "") {
    return {.rule = "a", .key = key, .what = What::Banned, .reason = reason};
}

inline FleetSettingsChange ban(const std::string& key, const std::string& reason = "") {
    return {.put = {ban_of(key, reason)}, .by = "eve at x"};
}

inline FleetSettingsChange unban(const std::string& key) {
    return {.gone = {{.rule = "a", .key = key, .bans = true}}, .by = "eve at x"};
}

// The box `b` of the cluster `lab`, with rules and a dataplane, and the desk of the box `x`.
class FleetSettingsBox : public Keeper {
protected:
    void SetUp() override {
        start_dataplane();
        start_daemon();
        ASSERT_FALSE(apply(kOne).refusal);
        for (FleetBoard* const board : {&board_, &other_board_}) {
            board->change([](FleetStatus& status) { status.membership = Membership::Member; });
        }
        join();
    }
    [[nodiscard]] FleetStore store() {
        return {EtcdClient{std::make_unique<FakeTransport>(etcd_), {}}, "lab"};
    }
    void join() {
        follower_.emplace(store(), board_,
                          SettingsFollower::Box{rules(), link(), audit_, folder_ / "state"});
        poll();
    }
    std::uint64_t change(const FleetSettingsChange& change) {
        const Result<FleetChanged> changed = desk_.change(change);
        EXPECT_TRUE(changed) << (changed ? "" : changed.error().what);
        return changed ? changed->number : 0;
    }
    void poll() { follower_->tick(now_ += 1min, false); }
    // Called before each transaction that writes, with its place: 1, 2, ...
    void before_each_step(std::function<void(int)> call) {
        etcd_.changed = [this](const std::string& key) {
            is_step_ = key.starts_with(keys_.settings());
        };
        etcd_.before = [this, call = std::move(call)] {
            if (std::exchange(is_step_, false)) {
                call(++steps_);
            }
        };
    }
    [[nodiscard]] NodeRecord record() const { return board_.status().record; }
    [[nodiscard]] std::string set_here() {
        std::set<std::string> lines;
        for (const KeySetting& one : rules().view()->keys) {
            lines.insert(one.key + " " + text_of(one) + ";");
        }
        std::string text;
        for (const std::string& line : lines) {
            text += line;
        }
        return text;
    }
    [[nodiscard]] std::size_t audited(const std::string& words) {
        std::ifstream file{audit_file_in(folder_ / "state")};
        std::stringstream text;
        text << file.rdbuf();
        std::size_t count = 0;
        for (std::string line; std::getline(text, line);) {
            count += line.find(words) != std::string::npos ? 1U : 0U;
        }
        return count;
    }

    [[nodiscard]] FleetSettings in_etcd() {
        FleetStore read = store();
        return read_fleet_settings(read)->settings;
    }

    bool is_step_ = false;
    int steps_ = 0;
    FakeEtcd etcd_;
    FleetKeys keys_{"lab"};
    FleetBoard board_{ClusterOptions{.name = "lab", .node = "b", .size = 3, .secret_file = {}}};
    FleetBoard other_board_{
        ClusterOptions{.name = "lab", .node = "x", .size = 3, .secret_file = {}}};
    SettingsDesk desk_{other_board_, [this] { return store(); }};
    std::optional<SettingsFollower> follower_;
    SettingsFollower::Clock::time_point now_{1h};
};

}  // namespace sluice::fleet_settings_test
