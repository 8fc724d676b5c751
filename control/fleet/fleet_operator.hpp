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
    std::vector<std::string> away{};  // that have been members, and are none now
};

// The boxes that have followed a panic, or its end, and those that have not yet.
struct PanicOutcome {
    std::vector<std::string> followed{};
    std::vector<std::string> behind{};
};

// The operator's part of a rollout. A set is staged by all live boxes before any of them runs it.
// Until it is the head its key hangs on a lease: where the operator dies, all go back. The key is
// put before the set is uploaded, so that nobody deletes the set meanwhile.
class FleetOperator {
public:
    using Report = std::function<void(const std::string&)>;
    static constexpr std::chrono::seconds kLease{10};
    static constexpr std::chrono::seconds kStaging{180};  // for compiling, at most
    static constexpr std::chrono::seconds kPushing{30};
    static constexpr std::chrono::milliseconds kPanicPatience{10'000};

    // `report` shows a person how far it is.
    FleetOperator(FleetStore store, Report report)
        : store_{std::move(store)}, report_{std::move(report)} {}

    [[nodiscard]] Result<RolloutOutcome> roll_out(std::string_view bytes,
                                                  const RolloutCourse& course);
    // The set before the one in force, without staging: all have run it, and boxes that are away
    // are no hindrance. Where a rollout is under way: its end.
    [[nodiscard]] Result<RolloutOutcome> roll_back(const RolloutCourse& course);
    [[nodiscard]] Result<RolloutOutcome> confirm();
    // False: there was none, or it became the head just now.
    [[nodiscard]] Result<bool> abort();
    // Waits for the boxes for so long at most. Those that are no members now are in neither list.
    [[nodiscard]] Result<PanicOutcome> set_panic(
        bool pass, const std::string& by, std::chrono::milliseconds patience = kPanicPatience);
    // The number of boxes that the cluster may have. False: no box has ever begun the cluster.
    // Refused while a slot beyond it is held.
    [[nodiscard]] Result<bool> resize(std::size_t size);

    // The box does not return: it is no more of those that are away, or drained. False: it is none
    // of them.
    [[nodiscard]] Result<bool> forget(const std::string& node);

    [[nodiscard]] FleetStore& store() noexcept { return store_; }

private:
    using Clock = std::chrono::steady_clock;

    struct Course {
        RolloutCourse asked;
        Head after{};                    // once it is the head
        std::int64_t head_modified = 0;  // 0: there was none
        Rollout rollout{};
        std::int64_t rollout_modified = 0;
        std::int64_t lease = 0;
        Clock::time_point alive_at{};     // of the lease
        Clock::time_point answered_at{};  // etcd's last answer
    };
    // The outcome of a wait; nullopt: it goes on. `is_late`: its time is over.
    using Check = std::function<std::optional<Result<Done>>(const std::vector<NodeRecord>& nodes,
                                                            bool is_late)>;

    // `set`: nullopt: the one before the head.
    [[nodiscard]] Result<Course> begin(const std::optional<SetName>& set,
                                       const RolloutCourse& asked);
    [[nodiscard]] Result<Course> plan(const std::optional<SetName>& set, const RolloutCourse& asked,
                                      const FleetView& view);
    [[nodiscard]] Result<Done> run(std::string_view bytes, Course& course);
    void end(Course& course, bool is_done);
    [[nodiscard]] Result<Done> wait(Course& course, Clock::duration most, const Check& check);
    [[nodiscard]] Result<RolloutOutcome> finish(const Course& course);
    [[nodiscard]] Result<Done> put(Course& course, std::int64_t lease);
    [[nodiscard]] Result<Done> stage(Course& course);
    [[nodiscard]] Result<Done> hold(Course& course);
    [[nodiscard]] Result<Done> waves(Course& course);
    void report_untried(const HeadSet& next);
    [[nodiscard]] Result<Done> soak(Course& course);
    [[nodiscard]] Result<Done> try_everywhere(Course& course);
    [[nodiscard]] Result<Done> promote(const Course& course);
    [[nodiscard]] Result<Done> wait_in_force(Course& course);
    [[nodiscard]] bool is_under_way(const Course& course);
    [[nodiscard]] Result<Done> keep_alive(Course& course);
    [[nodiscard]] Result<std::vector<NodeRecord>> members();
    [[nodiscard]] Result<std::vector<std::string>> away(const std::vector<NodeRecord>& nodes);
    [[nodiscard]] Result<PanicOutcome> wait_for_panic(std::uint64_t number,
                                                      std::chrono::milliseconds patience);

    FleetStore store_;
    Report report_;
};

}  // namespace sluice
