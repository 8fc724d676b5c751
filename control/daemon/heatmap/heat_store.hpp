#pragma once
#include "control/heatmap/heat_series.hpp"
#include "lib/watch/heatmap/heat_epoch.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

// A watched key by name, and what its packets had, each value once.
struct HeatName {
    std::string key;  // part|part
    std::vector<HeatField> facts;
};

// A second of one limit.
struct LimitSecond {
    std::int64_t second = 0;  // UTC
    std::string terms;        // of the limit: with other ones its maps begin anew
    unsigned own_step = 10;
    double seconds = 1;  // that the samples are of: less where a reload has cut them
};

// The columns of both maps of all limits that are watched: 2 h of 10 s and 48 h of 60 s, where a
// limit's own step is shorter than 10 s the last 10 min of it, and 2 h of one of 30 s. Gone with
// the process. Memory is bounded: kMostBytes of columns, the oldest of the limit that has most of
// them going first, and some 192 MiB of keys and names, of those that run and of the newest.
class HeatStore {
public:
    static constexpr std::size_t kMostLimits = 256;
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;
    static constexpr std::size_t kMostKeysInAll = std::size_t{1} << 17;  // of one length of columns
    static constexpr std::size_t kMostKeys = 4096;                       // of a column
    static constexpr std::size_t kMostNames = 1024;                      // of a limit
    static constexpr std::size_t kNamedLimits = 32;  // with names at once; others have none
    static constexpr std::size_t kMostFacts = 16;    // of a name
    // For so long a column has its named keys, and the last two of any length.
    static constexpr std::size_t kNamedSeconds = 30;
    // Seconds without anything of a limit: it gives its names up, and its place where others want
    // it.
    static constexpr std::int64_t kIdle = 60;

    // The lengths of the columns that are kept of a limit, in seconds.
    [[nodiscard]] static std::vector<unsigned> steps_of(unsigned own_step);

    explicit HeatStore(std::size_t most_bytes = kMostBytes) noexcept : most_bytes_{most_bytes} {}

    // False: there are kMostLimits already, of each of which something came within kIdle.
    bool add(const LimitSecond& second, const HeatLimit& watched);
    // Ends the columns that are over by then.
    void pass(std::int64_t second);
    // Forgets the limits for which `stays` is false.
    template <typename Stays>
    void keep(Stays&& stays) {
        const std::lock_guard lock{mutex_};
        std::erase_if(limits_,
                      [&](const auto& one) { return !stays(one.first.first, one.first.second); });
    }

    // Columns that begin from `from` on and before `to`, one for each step: nullopt has no data.
    struct Range {
        unsigned step = 10;
        std::int64_t from = 0;
        std::int64_t to = 0;
    };
    [[nodiscard]] std::vector<std::optional<HeatColumn>> columns(const std::string& rule,
                                                                 unsigned limit,
                                                                 const Range& range) const;
    // A column with its keys, those that are known by name.
    struct Named {
        HeatColumn column;
        bool has_keys = false;  // it is one of the newest: the keys that have names
        std::vector<HeatKey> keys;
        std::map<std::uint64_t, HeatName> names;  // by digest
    };
    [[nodiscard]] std::optional<Named> named(const std::string& rule, unsigned limit, unsigned step,
                                             std::int64_t begins) const;
    [[nodiscard]] std::size_t bytes() const;

private:
    struct OfLimit {
        std::string terms;
        std::vector<HeatSeries> series;
        std::map<std::uint64_t, HeatName> names;
        std::int64_t last = 0;  // second of which something came

        [[nodiscard]] const HeatSeries* of(unsigned step) const;
        [[nodiscard]] std::size_t bytes() const;
    };
    using Place = std::pair<std::string, unsigned>;

    [[nodiscard]] const OfLimit* find(const std::string& rule, unsigned limit) const;
    [[nodiscard]] OfLimit begin(const LimitSecond& second) const;
    bool drop_stalest(std::int64_t second);
    void take_names(OfLimit& limit, const std::vector<NamedHeatKey>& names) const;
    void make_room();

    std::size_t most_bytes_;
    mutable std::mutex mutex_;  // of what stands below
    std::map<Place, OfLimit> limits_;
};

}  // namespace sluice
