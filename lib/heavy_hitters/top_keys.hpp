#pragma once
#include "lib/base/units.hpp"
#include "lib/heavy_hitters/key_sample.hpp"
#include "lib/heavy_hitters/space_saving.hpp"
#include "lib/load/loaded_set.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

enum class TopOrder : std::uint8_t { Hits, Denied, Remaining };

// One key of a rule. Counts are of packets, over the window that TopKeys::window() says; the truth
// lies within the error of them, three standard deviations of the sampling included.
struct TopKey {
    std::string rule;
    std::string key;  // canonical bytes, as KeyBytes has them
    std::uint64_t hits = 0;
    std::uint64_t hits_error = 0;
    std::uint64_t denied = 0;
    std::uint64_t denied_error = 0;
    std::optional<std::uint64_t> remaining;  // units, when it was last sampled
};

// Whom the rules count the most packets for, from samples. The past fades: what is 30 s old counts
// half. Memory is bounded whatever keys come: up to 1000 keys a rule, fewer when there are many
// rules.
class TopKeys {
public:
    static constexpr std::size_t kMaxKeys = 1000;  // of a rule
    static constexpr std::size_t kMaxKeysInAll = 65'536;
    static constexpr Nanoseconds kHalfLife = std::chrono::seconds{30};

    // What samples refer to from now on. Rules that go on keep what is known of their keys.
    void adopt(const LoadedSet& rules);
    // A sample of another rule set is left out.
    void take(const KeySample& sample);
    // Now and then, in order: lets the past fade.
    void pass(Instant now);

    // The first `count` keys, of one rule or (empty) of all.
    [[nodiscard]] std::vector<TopKey> list(const std::string& rule, TopOrder order,
                                           std::size_t count) const;
    // The time that the counts are of, faded like them.
    [[nodiscard]] Nanoseconds window() const noexcept { return window_; }
    [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }

private:
    struct OfRule {
        SpaceSaving hits;
        SpaceSaving denied;
    };

    void fade();
    void add_keys(const std::string& rule, const OfRule& of_rule, TopOrder order,
                  std::vector<TopKey>& keys) const;

    std::uint64_t load_ = 0;
    std::vector<OfRule*> by_index_;
    std::map<std::string, OfRule> rules_;
    std::uint64_t samples_ = 0;
    Nanoseconds window_{};
    std::optional<Instant> last_;
    Nanoseconds faded_{};  // since the last halving
};

}  // namespace sluice
