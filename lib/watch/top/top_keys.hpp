#pragma once
#include "lib/base/units.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/watch/top/key_sample.hpp"
#include "lib/watch/top/space_saving.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

enum class TopOrder : std::uint8_t { Hits, Denied, Remaining, Bits };

// Over how long packets are counted.
enum class TopWindow : std::uint8_t { Second, TenSeconds, Minute };
inline constexpr auto kTopWindows = std::to_array<Nanoseconds>(
    {std::chrono::seconds{1}, std::chrono::seconds{10}, std::chrono::seconds{60}});

// One key of a rule. Counts are of packets, and bytes of them; the truth lies within the error of
// them, three standard deviations of the sampling included.
struct TopKey {
    std::string rule;
    std::string key;  // canonical bytes, as KeyBytes has them
    // The time that the counts are of: the window, or the time since the rule came if that is
    // shorter.
    std::uint64_t window_ns = 0;
    std::uint64_t hits = 0;
    std::uint64_t hits_error = 0;
    std::uint64_t denied = 0;
    std::uint64_t denied_error = 0;
    std::uint64_t bytes = 0;  // of the frames of those packets
    std::uint64_t bytes_error = 0;
    // Units, when it was last sampled; none of a key that was banned then, and unknown of one that
    // was exempt.
    std::optional<std::uint64_t> remaining;
    bool exempt = false;
    bool banned = false;
};

// The keys that the rules count the most packets for, from samples, over each of the windows that
// end now. A window is the part of it that runs, whole, and as much of the part before as reaches
// into it, as if that had come evenly. Memory is bounded whatever keys come: up to 1000 keys a rule
// and window, fewer when there are many rules.
class TopKeys {
public:
    static constexpr std::size_t kMaxKeys = 1000;  // of a rule
    static constexpr std::size_t kMaxKeysInAll = 65'536;

    // The rules that samples refer to from now on. Rules that go on keep what is known of their
    // keys.
    void adopt(const LoadedSet& rules);
    // A sample of another rule set is left out.
    void take(const KeySample& sample);
    // Now and then, in order, before samples are taken and before anybody asks: what is now.
    void pass(Instant now);

    // The keys to list: those of one rule or (empty) of all, and the first `count` of them.
    struct Choice {
        std::string rule{};
        TopOrder order = TopOrder::Hits;
        TopWindow window = TopWindow::TenSeconds;
        std::size_t count = 0;
    };
    [[nodiscard]] std::vector<TopKey> list(const Choice& choice) const;
    // The keys of a rule that are known, over any of the windows; each may come several times.
    void add_names(const std::string& rule, std::vector<std::string>& names) const;
    // Samples that the window has.
    [[nodiscard]] std::uint64_t samples(TopWindow window) const noexcept;

private:
    struct Sketches {
        SpaceSaving hits;
        SpaceSaving denied;
        SpaceSaving bytes;
    };
    static constexpr std::size_t kSketches = 3;
    struct OfRule {
        Instant since;
        std::vector<Sketches> windows;  // by TopWindow
    };
    struct Running {
        Instant begun;  // the part that runs
        std::uint64_t samples = 0;
        std::uint64_t samples_before = 0;
    };
    // How a window lies over its two parts.
    struct Overlap {
        Nanoseconds length{};
        double before = 0;  // how much of what came in the part before is in the window
    };

    void rotate(std::size_t window, Instant now);
    [[nodiscard]] Overlap overlap(TopWindow window, Instant since) const noexcept;
    void add_keys(const std::string& rule, const OfRule& of_rule, const Choice& choice,
                  std::vector<TopKey>& keys) const;

    std::uint64_t load_ = 0;
    std::vector<OfRule*> by_index_;
    std::map<std::string, OfRule> rules_;
    std::array<Running, kTopWindows.size()> running_{};
    std::optional<Instant> first_;
    Instant now_{};
};

}  // namespace sluice
