#pragma once
#include "lib/watch/heatmap/heat_collector.hpp"
#include "lib/watch/heatmap/heat_sample.hpp"
#include "lib/watch/heatmap/heat_sampler.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

// A group of a replayed draft, with all that it asked for. Units are the limit's.
struct ReplayedGroup {
    std::string key;
    std::uint64_t offered = 0;
    std::uint64_t refused = 0;
};

// Values that packets of a draft's groups have in a field, those of the most packets first.
struct SeenValues {
    std::string field;
    std::vector<std::string> values;
};

// The groups of each limit of one rule over a whole capture, by digest; with the names of their
// keys, and some of what their packets say.
class DraftTally {
public:
    static constexpr std::size_t kMostDescribed = 20'000;  // packets whose fields are read
    static constexpr std::size_t kMostValues = 1'024;      // of a field, that are told apart

    // `first_limit`: of the rule, in MeterPlan::limits.
    DraftTally(std::size_t limits, std::uint32_t first_limit)
        : groups_(limits), first_limit_{first_limit} {}

    // The keys of a second under that limit of the rule.
    void add(unsigned limit, std::span<const HeatSample> keys);
    // The packets that a worker has noted since the last call.
    void describe(HeatSampler& sampler, const HeatCollector::PairOf& pair_of);

    struct OfLimit {
        std::uint64_t offered = 0;
        std::uint64_t refused = 0;
        std::uint64_t groups = 0;
        std::uint64_t refused_groups = 0;

        // Refused, of what was offered.
        [[nodiscard]] double share() const noexcept {
            return offered == 0 ? 0 : static_cast<double>(refused) / static_cast<double>(offered);
        }
    };
    [[nodiscard]] OfLimit of_limit(unsigned limit) const;
    // Groups that were refused anything, the most refused ones first.
    [[nodiscard]] std::vector<ReplayedGroup> most_refused(
        unsigned limit, std::size_t most, const HeatCollector::PairOf& pair_of) const;
    [[nodiscard]] std::vector<SeenValues> values(std::size_t most_of_field) const;

private:
    struct Group {
        std::uint64_t offered = 0;
        std::uint64_t refused = 0;
        std::vector<std::byte> key;  // canonical bytes; none: no packet has shown it
    };
    using Groups = std::unordered_map<std::uint64_t, Group>;
    void note_values(const HeatPacket& packet);

    std::vector<Groups> groups_;  // by limit
    std::uint32_t first_limit_;
    std::size_t described_ = 0;
    std::map<std::string, std::unordered_map<std::string, std::uint64_t>> values_;  // by field
};

}  // namespace sluice
