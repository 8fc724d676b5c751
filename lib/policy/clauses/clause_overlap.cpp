#include "lib/policy/clauses/clause_overlap.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Each range of the shorter list is looked for in the longer one.
bool have_common(const std::vector<WideRange>& a, const std::vector<WideRange>& b) noexcept {
    const std::vector<WideRange>& few = a.size() < b.size() ? a : b;
    const std::vector<WideRange>& many = a.size() < b.size() ? b : a;
    return std::any_of(few.begin(), few.end(), [&many](const WideRange& range) {
        const auto at = std::partition_point(
            many.begin(), many.end(),
            [&range](const WideRange& other) { return other.last < range.first; });
        return at != many.end() && at->first <= range.last;
    });
}

// Both are sorted. Whether one has a test that the other has negated.
bool contradict(const std::vector<TextTerm>& a, const std::vector<TextTerm>& b) noexcept {
    auto at = b.begin();
    for (const TextTerm& term : a) {
        while (at != b.end() && at->test < term.test) {
            ++at;
        }
        if (at != b.end() && at->test == term.test && at->negated != term.negated) {
            return true;
        }
    }
    return false;
}

constexpr std::size_t kLargeSet = 16;  // ranges

}  // namespace

bool have_common(const DomainSet& a, const DomainSet& b) noexcept {
    return (a.absent && b.absent) || have_common(a.numbers, b.numbers) || have_common(a.v6, b.v6);
}

bool ClauseOverlap::may_meet(const std::vector<Clause>& a, const std::vector<Clause>& b) {
    for (const Clause& one : a) {
        for (const Clause& other : b) {
            if (++looks_ > kMostLooks || one_may_meet(one, other)) {
                return true;
            }
        }
    }
    return false;
}

bool ClauseOverlap::one_may_meet(const Clause& a, const Clause& b) {
    auto at = b.fields.begin();
    for (const ClauseTerm& term : a.fields) {
        while (at != b.fields.end() && at->field < term.field) {
            ++at;
        }
        if (at != b.fields.end() && at->field == term.field && !have_common(term.set, at->set)) {
            return false;
        }
    }
    return !contradict(a.texts, b.texts);
}

bool ClauseOverlap::have_common(SetId a, SetId b) {
    if (a == b) {
        return true;  // no set is empty
    }
    const DomainSet& one = pool_[a];
    const DomainSet& other = pool_[b];
    if (one.numbers.size() + one.v6.size() < kLargeSet ||
        other.numbers.size() + other.v6.size() < kLargeSet) {
        return sluice::have_common(one, other);
    }
    const auto [low, high] = std::minmax(a, b);
    const auto [at, fresh] = common_.try_emplace(std::uint64_t{low} << 32 | high);
    if (fresh) {
        at->second = sluice::have_common(one, other);
    }
    return at->second;
}

}  // namespace sluice
