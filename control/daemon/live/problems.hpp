#pragma once
#include "control/daemon/live/reading.hpp"
#include "control/daemon/notify/notice_sender.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Facts that problems are found in.
struct ProblemFacts {
    const Stats* stats;    // nullptr: no dataplane answers
    const RuleView& view;  // rules in force
    const StateNow& state;
    const std::vector<NoticeSender::State>& webhooks;
};

enum class Needs : bool { Dataplane, Nothing };

// A problem of the box: when there is one, and what to do about it. `alert` is the one of
// control/monitoring that tells of the same, with the same severity and the same words (a test
// holds both to it); empty: there is none.
struct ProblemRow {
    std::string_view name;
    std::string_view alert;
    std::string_view severity;
    std::string_view act;
    // The problem in words, with what has it; empty: there is none.
    std::string (*find)(const ProblemFacts& facts) = nullptr;
    // Or a counter, which is a problem for a while after it has grown, and what it counts.
    std::uint64_t (*count)(const Stats& stats) = nullptr;
    std::string_view counted = {};
    Needs needs = Needs::Dataplane;
    // Told once it has been there for so many seconds: shorter ones are parts of other changes.
    std::int64_t lasts = 0;
    bool outlives = false;  // the counter goes on over the end of a dataplane
};
[[nodiscard]] std::span<const ProblemRow> problem_rows() noexcept;

// Remembers when counters have last grown.
class ProblemFinder {
public:
    static constexpr std::int64_t kHolds = 60;  // seconds

    // Critical ones first. `anew`: another dataplane counts than before.
    [[nodiscard]] std::vector<LiveProblem> find(const ProblemFacts& facts, std::int64_t second,
                                                bool anew);

private:
    struct Seen {
        std::uint64_t count = 0;
        std::int64_t grew_at = -kHolds - 1;
    };
    [[nodiscard]] bool has_grown(std::size_t row, std::uint64_t count, std::int64_t second,
                                 bool anew);

    [[nodiscard]] bool has_lasted(std::size_t row, bool is_there, std::int64_t second);

    std::map<std::size_t, Seen> seen_;           // by row
    std::map<std::size_t, std::int64_t> since_;  // likewise, of those that have to last
};

}  // namespace sluice
