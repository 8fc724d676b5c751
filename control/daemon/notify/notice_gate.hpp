#pragma once
#include "control/daemon/notify/notice.hpp"
#include "control/daemon/rule_change.hpp"
#include "lib/rules/rule_counts.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sluice {

// Packets that a rule has kept back, whoever dropped them: its limits and bans, the ban of a source
// before any rule, or the kernel before the box.
[[nodiscard]] std::uint64_t refused_by(const RuleCounts& counts) noexcept;

// Events of keys become notices: of one rule and kind one at once, and then one in each window,
// with how many there were and the first of them. Its memory is bounded by the rules with `notify`,
// however many keys an attacker has.
class NoticeGate {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kWindow{10};
    // A rule that has refused nothing for so long is over with what it refused.
    static constexpr std::chrono::seconds kQuiet{30};
    static constexpr std::chrono::seconds kStateWindow{60};
    static constexpr std::size_t kMostExamples = 10;
    static constexpr std::size_t kMostExampleBytes = 8192;  // of their keys together

    // The rules in force; rules that go on keep what was counted of them. True if they ask for
    // events that nobody has asked for before. `is_owed`: what the last adoption brought was not
    // taken again yet, and is new still.
    bool adopt(const RuleView& view, bool is_owed = false);
    // True if no rule asks for notices.
    [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }

    // One event of a key.
    void take(const KeyEvent& event, Clock::time_point now) { take_as(event, now, false); }
    // One that take() was called with before these rules were adopted: it counts for what the last
    // adoption has brought.
    void take_again(const KeyEvent& event, Clock::time_point now) { take_as(event, now, true); }
    // So many events could not be told.
    void lose(std::uint64_t events) noexcept { lost_ += events; }
    // A rule's count of what it refused, which only says something where it differs from before.
    void count_refused(const std::string& rule, std::uint64_t refused, Clock::time_point now,
                       std::int64_t utc);
    // True while something has begun whose end is to be told.
    [[nodiscard]] bool has_attack() const noexcept;
    // The dataplane's word on its state. What was not kept before the first word is no news: the
    // dataplane counts since its own start.
    void note_state(bool survives, std::uint64_t not_kept);

    // An event of the cluster, for those who ask for the box's state; `missed` events before it
    // could not be told. Steps of a rollout on the way are left out.
    void note_cluster(const ClusterEvent& event, std::uint64_t missed);
    [[nodiscard]] std::vector<Notice> collect_cluster(Clock::time_point now);

    // Notices that are due.
    [[nodiscard]] std::vector<Notice> collect(Clock::time_point now);

private:
    struct Window {
        Clock::time_point until{};  // no notice before
        std::uint64_t count = 0;
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::uint64_t lost_before = 0;
        std::size_t bytes = 0;
        std::vector<KeyEvent> examples;
    };
    struct Watched {
        NotifyTerms terms;
        std::array<bool, kNotifyEventCount> is_new{};  // by the last adoption, or owed since
        Mode mode = Mode::Monitor;
        Window bans;
        Window limits;
        // Something has begun whose end is to be told.
        bool is_active = false;
        std::uint64_t begun = 0;
        std::int64_t since = 0;
        std::int64_t last = 0;
        Clock::time_point refused_at{};
        std::optional<std::uint64_t> refused{};
    };

    void take_as(const KeyEvent& event, Clock::time_point now, bool is_again);
    void begin_window(Window& window, bool is_new) const;
    static void add(Window& window, const KeyEvent& event);
    void begin(Watched& rule, const KeyEvent& event, Clock::time_point now) const;
    void collect_window(Window& window, const Notice& head, Clock::time_point now,
                        std::vector<Notice>& into) const;
    void collect_states(Clock::time_point now, std::vector<Notice>& into);

    std::map<std::string, Watched, std::less<>> rules_;
    std::uint64_t lost_ = 0;
    bool survives_ = true;
    bool is_state_lost_ = false;
    Clock::time_point state_until_{};          // no notice of it before
    std::optional<std::uint64_t> not_kept_{};  // as it was read last
    std::set<std::string> told_of_state_;      // webhooks
    Notice cluster_{};                         // what has become of it, and was not told yet
    Clock::time_point cluster_until_{};        // no notice of it before
};

}  // namespace sluice
