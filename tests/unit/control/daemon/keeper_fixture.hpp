#pragma once
#include "control/daemon/link_keeper.hpp"
#include "control/daemon/rule_keeper.hpp"
#include "lib/wire/codec.hpp"
#include "temporary_folder.hpp"
#include "tests/fakes/fake_dataplane.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

namespace sluice {

using namespace std::chrono_literals;

inline const std::string kOne = R"(version: 1
rules:
  - {id: a, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
  - {id: b, mode: "off", when: ip.ttl eq 1, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
)";
inline const std::string kTwo = R"(version: 1
rules:
  - {id: c, mode: monitor, when: ip.proto eq 17, on_match: drop}
)";
inline const std::string kAllOff = R"(version: 1
rules:
  - {id: a, mode: "off", when: ip.proto eq 17, on_match: drop}
)";
// What a box cannot share is allowed while its rule is off.
inline const std::string kNotYet = R"(version: 1
rules:
  - {id: later, mode: "off", key: [], scope: cluster,
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
  - {id: a, mode: enforce, when: ip.proto eq 17, on_match: drop}
)";

// sluiced without its API: a store, a link, a keeper of rules, and a dataplane that can be away.
class Keeper : public testing::Test {
protected:
    void start_dataplane(FakeDataplane::Asked asked = {}) {
        dataplane_.emplace(folder_ / "dp.sock", std::move(asked));
    }
    void stop_dataplane() { dataplane_.reset(); }
    FakeDataplane& dataplane() { return *dataplane_; }

    // `patience`: what waiting for a dataplane that is away takes.
    void start_daemon(const std::string& first_rules = "",
                      std::chrono::milliseconds patience = 3s) {
        link_.emplace(folder_ / "dp.sock", patience);
        link_->set_cluster(cluster_);
        rules_.emplace(
            Store{folder_ / "state"}, *link_, audit_, [this] { return boot_; },
            [this] { return wall_ += wall_step_; });
        keeper_.emplace(*link_, *rules_, first_rules);
        tick();
    }
    // As a kill would: nothing is written, closed or told any more.
    void kill_daemon() {
        keeper_.reset();
        rules_.reset();
        link_.reset();
    }
    // Later each time, so that nothing waits for its next try.
    void tick(std::chrono::nanoseconds later = 1min) { keeper_->tick(now_ += later); }
    bool connected() { return link_->status().connected; }
    // The machine's clock, and another start of the machine.
    void pass(std::chrono::nanoseconds time) { boot_.since += time; }
    void reboot() { boot_ = {boot_.boot + "again", 10s}; }

    RuleKeeper& rules() { return *rules_; }
    DataplaneLink& link() { return *link_; }
    RuleChange apply(const std::string& text, bool force = false) {
        return rules_->apply({.name = "test.yaml", .text = text, .force = force, .from = 7});
    }
    // With lists, which lie in `etc` of the folder.
    RuleFile file_with_lists(const std::string& text) {
        return {.name = "test.yaml",
                .text = text,
                .confirm = std::nullopt,
                .from = ::geteuid(),
                .directory = folder_ / "etc"};
    }
    RuleChange try_out(const std::string& text, std::chrono::nanoseconds confirm) {
        return rules_->apply({.name = "test.yaml", .text = text, .confirm = confirm, .from = 7});
    }
    std::uint64_t in_dataplane() { return dataplane_->running().rules.generation; }
    std::uint64_t in_view() { return rules_->view()->generation; }
    std::optional<StoredRules> on_disk() {
        auto loaded = Store{folder_ / "state"}.load();
        EXPECT_TRUE(loaded);
        return *loaded;
    }
    void expect_all(std::uint64_t generation) {
        EXPECT_EQ(in_dataplane(), generation);
        EXPECT_EQ(in_view(), generation);
        const auto stored = on_disk();
        EXPECT_EQ(stored ? stored->generation : 0, generation);
    }
    TemporaryFolder folder_;
    Audit audit_{folder_ / "state"};
    std::int64_t wall_ = 1'800'000'000;
    std::int64_t wall_step_ = 0;  // s, by which it is later each time it is asked
    BoxCluster cluster_{};        // of a daemon that starts

private:
    BootTime boot_{"boot", 1000s};
    std::optional<FakeDataplane> dataplane_;
    std::optional<DataplaneLink> link_;
    std::optional<RuleKeeper> rules_;
    std::optional<LinkKeeper> keeper_;
    LinkKeeper::Clock::time_point now_{};
};

inline std::optional<Refusal::Kind> kind_of(const RuleChange& change) {
    return change.refusal ? std::optional{change.refusal->kind} : std::nullopt;
}

}  // namespace sluice
