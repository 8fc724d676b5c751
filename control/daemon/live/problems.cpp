#include "control/daemon/live/problems.hpp"

#include <utility>

namespace sluice {

bool ProblemFinder::has_grown(std::size_t row, std::uint64_t count, std::int64_t second,
                              bool anew) {
    const auto [found, is_new] = seen_.try_emplace(row, Seen{.count = count});
    Seen& seen = found->second;
    if (!is_new && !anew && count > seen.count) {
        seen.grew_at = second;
    }
    seen.count = count;
    return second - seen.grew_at <= kHolds;
}

bool ProblemFinder::has_lasted(std::size_t row, bool is_there, std::int64_t second) {
    if (!is_there) {
        since_.erase(row);
        return false;
    }
    return second - since_.try_emplace(row, second).first->second >= problem_rows()[row].lasts;
}

std::vector<LiveProblem> ProblemFinder::find(const ProblemFacts& facts, std::int64_t second,
                                             bool anew) {
    std::vector<LiveProblem> problems;
    const std::span<const ProblemRow> rows = problem_rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ProblemRow& row = rows[i];
        if (facts.stats == nullptr && row.needs == Needs::Dataplane) {
            since_.erase(i);
            continue;
        }
        std::string text;
        if (row.find != nullptr) {
            text = row.find(facts);
        } else if (has_grown(i, row.count(*facts.stats), second, anew && !row.outlives)) {
            text = row.counted;
        }
        if (has_lasted(i, !text.empty(), second)) {
            problems.push_back({row.name, row.severity, std::move(text), row.act});
        }
    }
    return problems;
}

}  // namespace sluice
