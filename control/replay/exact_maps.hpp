#pragma once
#include "control/heatmap/heat_series.hpp"
#include "control/json.hpp"
#include "control/replay/replay_rules.hpp"
#include "lib/base/units.hpp"
#include "lib/watch/heatmap/heat_table.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// Both heat maps of every limit, of every key that a capture has: the workers of a replay note what
// they decide as those of a box do, but all keys are watched, and each second of the capture is
// read before the next begins.
class ExactMaps {
public:
    // The keys of one second of the capture, by digest, under a limit of the watched ones.
    using SeeSecond = std::function<void(unsigned limit, std::span<const HeatSample> keys)>;
    struct Terms {
        std::string rule{};                          // alone, without candidates; empty: all
        std::size_t records = std::size_t{1} << 22;  // of a worker: half of them keys of a second
        std::size_t columns = kEvery;                // kept: the newest
        unsigned step = 1;                           // seconds of a column, at least
        std::uint32_t names = 0;                     // packets of a second that are described
        unsigned bits = 0;                           // one key of 2^bits is in the capture
        SeeSecond see = [](unsigned, std::span<const HeatSample>) {};
    };
    static constexpr std::size_t kEvery = std::numeric_limits<std::size_t>::max();

    // The rules outlive it.
    ExactMaps(const ReplayRules& rules, std::size_t workers, Terms terms);
    ExactMaps(const ReplayRules& rules, std::size_t workers) : ExactMaps(rules, workers, Terms{}) {}

    // The table of each worker.
    [[nodiscard]] std::vector<HeatTable*> tables() const;
    // Frames of that time (UTC) come next.
    void reach(Nanoseconds utc);
    // No more come.
    void finish();

    // After finish(): maps as GET /v1/rules/ID/heatmap has them, with the rule in front, one of
    // each limit that any packet met.
    [[nodiscard]] Json json() const;
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

    Terms terms_;
    std::shared_ptr<const HeatPlan> plan_;
    std::vector<std::unique_ptr<HeatTable>> tables_;  // by worker
    std::vector<OfLimit> limits_;                     // by place in the plan
    std::optional<std::int64_t> first_;               // UTC, seconds
    std::int64_t second_ = 0;                         // that is under way
    bool is_exact_ = true;
};

}  // namespace sluice
