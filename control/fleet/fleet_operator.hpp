#pragma once
#include "control/fleet/fleet_store.hpp"
#include "lib/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// How a set is to be brought to all boxes.
struct RolloutCourse {
    std::string by{};
    bool force = false;                             // also when no rule in it is on
    bool takes_over = false;                        // a rollout that is under way ends
    std::optional<std::chrono::seconds> confirm{};  // on trial everywhere, until it is confirmed
    std::string canary{};  // goes first, then a quarter, then all; empty: all at once
    std::chrono::seconds soak{60};
};

// The boxes that have it in force, and those that have not yet, with why.
struct RolloutOutcome {
    HeadSet set{};
    std::vector<std::string> in_force{};
    std::vector<std::string> behind{};
};

// The operator's part of a rollout. A set is staged by all live boxes before any of them runs it.
// Until it is the head its key hangs on a lease: where the operator dies, all go back.
class FleetOperator {
public:
    using Say = std::function<void(const std::string&)>;
    static constexpr std::chrono::seconds kLease{10};
    static constexpr std::chrono::seconds kStaging{180};  // for compiling, at most
    static constexpr std::chrono::seconds kPushing{30};

    // `say` tells a person how far it is.
    FleetOperator(FleetStore store, Say say) : store_{std::move(store)}, say_{std::move(say)} {}

    [[nodiscard]] Result<RolloutOutcome> bring(std::string_view bytes, const RolloutCourse& course);
    // The set before the one in force, or the end of the rollout that is under way.
    [[nodiscard]] Result<RolloutOutcome> go_back(const RolloutCourse& course);
    [[nodiscard]] Result<RolloutOutcome> confirm();
    // False: there is none.
    [[nodiscard]] Result<bool> abort();
    [[nodiscard]] Result<Done> set_panic(bool pass, const std::string& by);

    [[nodiscard]] FleetStore& store() noexcept { return store_; }

private:
    using Clock = std::chrono::steady_clock;
    using IsThere = std::function<bool(const NodeRecord&)>;

    struct Course {
        RolloutCourse asked;
        Head after{};                    // once it is the head
        std::int64_t head_modified = 0;  // 0: there was none
        Rollout rollout{};
        std::int64_t rollout_modified = 0;
        std::int64_t lease = 0;
        Clock::time_point alive_at{};
    };

    [[nodiscard]] Result<Course> begin(const SetName& set, const RolloutCourse& asked,
                                       bool is_back);
    [[nodiscard]] Result<Done> run(Course& course);
    [[nodiscard]] Result<RolloutOutcome> finish(const Course& course);
    [[nodiscard]] Result<Done> put(Course& course, std::int64_t lease);
    [[nodiscard]] Result<Done> stage(Course& course);
    [[nodiscard]] Result<Done> hold(Course& course);
    [[nodiscard]] Result<Done> waves(Course& course);
    [[nodiscard]] Result<Done> soak(Course& course);
    [[nodiscard]] Result<Done> promote(const Course& course);
    [[nodiscard]] Result<Done> wait_in_force(Course& course);
    [[nodiscard]] bool is_under_way(const Course& course);
    [[nodiscard]] Result<Done> keep_alive(Course& course);
    [[nodiscard]] Result<std::vector<NodeRecord>> members();

    FleetStore store_;
    Say say_;
};

}  // namespace sluice
