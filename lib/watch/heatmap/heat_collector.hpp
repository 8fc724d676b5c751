#pragma once
#include "lib/base/now.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/watch/heatmap/heat_epoch.hpp"
#include "lib/watch/heatmap/heat_join.hpp"
#include "lib/watch/heatmap/heat_plan.hpp"
#include "lib/watch/heatmap/heat_sampler.hpp"
#include "lib/watch/heatmap/heat_stats.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The main lcore's end of the heat maps: it turns the epoch, reads what the workers have left,
// joins it and keeps it for those who read. Nothing here waits: a worker that has not seen the turn
// when the next one is due is left out of it, and what it has comes in a later epoch.
class HeatCollector {
public:
    static constexpr Nanoseconds kEpoch = std::chrono::seconds{1};
    static constexpr Nanoseconds kLookLasts = std::chrono::seconds{60};
    static constexpr std::size_t kKept = 8;  // epochs, for readers
    static constexpr std::size_t kMostSamples = 32'768;
    static constexpr std::size_t kMostPackets = 4'096;  // of one epoch
    static constexpr std::uint32_t kNames = 512;        // of one worker and epoch, of all limits

    // `samplers`, one for each worker, outlive it. `most_samples`: of one epoch, of all limits.
    explicit HeatCollector(std::vector<HeatSampler*> samplers,
                           std::size_t most_samples = kMostSamples);

    // The rules that are judged by from now on; the epoch ends, and the next one where it would
    // have ended. Called again with the same set, it does nothing.
    void adopt(const LoadedSet& set, std::uint64_t generation);
    // Has these rules watched for kLookLasts, kMostLookedAt at most, in the place of those that are
    // not asked for any more.
    void look_at(const std::vector<std::string>& rules, Now now);
    // Turns and reads what is due. `pair_of` gives the text of a port_name().
    using PairOf = std::function<std::string(std::uint64_t)>;
    void tick(Now now, const PairOf& pair_of);

    // The epochs after a number, oldest first, `most` at most.
    [[nodiscard]] std::vector<HeatEpoch> after(std::uint64_t number, std::size_t most) const;
    [[nodiscard]] std::uint64_t latest() const noexcept {
        return kept_.empty() ? 0 : kept_.back().number;
    }
    [[nodiscard]] HeatStats stats() const;

private:
    // The epoch that has ended, until all workers' tables have been read.
    struct Closing {
        HeatEpoch epoch;
        std::shared_ptr<const HeatPlan> plan;
        std::vector<HeatJoin> joins;          // by place in the plan
        std::vector<std::uint64_t> left_out;  // likewise
    };
    struct NextBits {
        std::uint8_t bits = HeatPlan::kFirstBits;
        std::uint8_t name_bits = 0;
        bool is_new = false;  // from a table of the epoch that is read
    };
    void make_plan();
    void turn(Now now, const PairOf& pair_of);
    void read(const HeatTable& table);
    void choose_bits(const HeatTable& table, const std::vector<std::uint32_t>& keys);
    void read_due();
    void take_packets();
    void finish(const PairOf& pair_of);
    void name_keys(HeatLimit& limit, std::uint32_t index, const PairOf& pair_of);

    std::vector<HeatSampler*> samplers_;
    std::size_t most_samples_;
    std::vector<bool> owes_;  // by worker: it has been told to turn, and not been read yet
    const LoadedSet* set_ = nullptr;
    std::uint64_t load_ = 0;
    std::uint64_t generation_ = 0;
    std::map<std::string, Instant> looks_;
    std::shared_ptr<const HeatPlan> plan_ = std::make_shared<const HeatPlan>();
    std::map<std::uint64_t, NextBits> bits_;  // by identity of a limit
    Instant turn_at_{};
    bool is_cut_ = false;  // the epoch ends before that
    Nanoseconds began_utc_{};
    std::uint64_t last_number_ = 0;
    std::optional<Closing> closing_;
    std::vector<HeatPacketRecord> packets_;  // of the epoch that is to be closed next
    std::deque<HeatEpoch> kept_;
    HeatStats stats_;
    std::uint64_t lost_before_ = 0;  // names, before the epoch that is to be closed next
};

// A packet of a watched key, as people are told of it.
[[nodiscard]] HeatPacket heat_packet_of(const HeatPacketRecord& record,
                                        const HeatCollector::PairOf& pair_of);

}  // namespace sluice
