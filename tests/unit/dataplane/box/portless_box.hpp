#pragma once
#include "dataplane/box/rule_publisher.hpp"
#include "dataplane/worker/utc_clock.hpp"
#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sluice::test {

// The configuration of a small box, and its state directory.
struct BoxFolder {
    explicit BoxFolder(const std::string& name) {
        box.state_dir = memory_folder(name);
        std::filesystem::create_directories(box.state_dir);
        box.table_keys = 64;
        box.huge_pages = HugePages::None;
    }
    ~BoxFolder() { std::filesystem::remove_all(box.state_dir); }
    BoxFolder(const BoxFolder&) = delete;
    BoxFolder& operator=(const BoxFolder&) = delete;

    BoxConfig box;
};

// One rule, with its name as its source.
inline ApplyRules deny_all(const std::string& name) {
    ApplyRules request;
    Rule rule;
    rule.id = name;
    rule.mode = Mode::Enforce;
    rule.on_match = OnMatch::Act;
    request.rules.rules = {rule};
    request.source = name;
    return request;
}

// A dataplane without ports, whose workers have not been made.
struct PortlessBox {
    explicit PortlessBox(const BoxConfig& config, std::size_t workers_wanted = 1)
        : box{config},
          state{*BoxState::open(config, workers_wanted)},
          ports{state.rss_keys(), config.state_dir},
          workers{lcores(workers_wanted), std::chrono::seconds{1}},
          top{workers},
          events{workers},
          publisher{config, state, workers, {top, events, ports, kernel}} {
        EXPECT_TRUE(publisher.load_saved().has_value());
    }
    PortlessBox(const PortlessBox&) = delete;
    PortlessBox& operator=(const PortlessBox&) = delete;

    void make_workers() {
        workers.make(ports, {box, state, publisher.loaded().set(), publisher.running(),
                             publisher.board(), clock.time_of_day()});
    }
    [[nodiscard]] Running::State running() const { return publisher.running().adopt().state; }
    // The source of the rules in force.
    [[nodiscard]] std::string source() const { return publisher.running_rules().source; }

    const BoxConfig& box;
    BoxState state;
    Ports ports;
    UtcClock clock{UtcClock::read(state.clock_lead())};
    WorkerFleet workers;
    TopReport top;
    EventReport events;
    std::unique_ptr<KernelBridge> kernel;
    RulePublisher publisher;

private:
    [[nodiscard]] static std::vector<unsigned> lcores(std::size_t count) {
        std::vector<unsigned> numbers;
        for (unsigned lcore = 1; lcore <= count; ++lcore) {
            numbers.push_back(lcore);
        }
        return numbers;
    }
};

}  // namespace sluice::test
