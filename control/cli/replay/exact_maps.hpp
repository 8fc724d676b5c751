#pragma once
#include "control/heatmap/heat_series.hpp"
#include "control/json.hpp"
#include "control/replay/replay_rules.hpp"
#include "lib/base/units.hpp"
#include "lib/watch/heatmap/heat_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Both heat maps of every limit, of every key that a capture has: the workers of a replay note what
// they decide as those of a box do, but all keys are watched, and each second of the capture is
// read before the next begins.
class ExactMaps {
public:
    // The rules outlive it.
    ExactMaps(const ReplayRules& rules, std::size_t workers);

    // The table of each worker.
    [[nodiscard]] std::vector<HeatTable*> tables() const;
    // Frames of that time (UTC) come next.
    void reach(Nanoseconds utc);
    // No more come.
    void finish();

    // After finish(): maps as GET /v1/rules/ID/heatmap has them, with the rule in front, one of
    // each limit that any packet met.
    [[nodiscard]] Json json() const;
    // The same for people; `columns`: of a map at most.
    [[nodiscard]] std::string text(std::size_t columns) const;
    // False: a second had more keys than the tables hold.
    [[nodiscard]] bool is_exact() const noexcept { return is_exact_; }

private:
    struct OfLimit {
        const RuleSummary& rule;
        unsigned limit;  // index in the rule
        HeatSeries series;
        bool met = false;  // by a packet
    };
    void read_second();
    void add_nobody(std::int64_t from, std::int64_t to);
    void begin_second();
    [[nodiscard]] Json json_of(const OfLimit& limit) const;

    std::shared_ptr<const HeatPlan> plan_;
    std::vector<std::unique_ptr<HeatTable>> tables_;  // by worker
    std::vector<OfLimit> limits_;                     // by place in the plan
    std::optional<std::int64_t> first_;               // UTC, seconds
    std::int64_t second_ = 0;                         // that is under way
    bool is_exact_ = true;
};

}  // namespace sluice
