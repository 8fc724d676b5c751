#include "lib/policy/clauses/clause_neighbours.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace sluice {
namespace {

constexpr auto kTellingFields =
    std::to_array<Field>({Field::IpDst, Field::IpSrc, Field::L4Dport, Field::Port, Field::VlanId});

}  // namespace

std::optional<ClauseNeighbours::Span> ClauseNeighbours::span_of(const std::vector<Clause>& clauses,
                                                                Field field, const SetPool& pool) {
    std::optional<Span> whole;
    for (const Clause& clause : clauses) {
        const auto term =
            std::find_if(clause.fields.begin(), clause.fields.end(),
                         [field](const ClauseTerm& one) { return one.field == field; });
        if (term == clause.fields.end()) {
            return std::nullopt;
        }
        const DomainSet& set = pool[term->set];
        const bool v6 = set.numbers.empty();
        if (set.absent || (!v6 && !set.v6.empty()) || (whole && whole->v6 != v6)) {
            return std::nullopt;
        }
        const std::vector<WideRange>& ranges = v6 ? set.v6 : set.numbers;
        const Span span{ranges.front().first, ranges.back().last, v6};
        whole =
            !whole ? span
                   : Span{std::min(whole->first, span.first), std::max(whole->last, span.last), v6};
    }
    return whole;
}

std::vector<std::optional<ClauseNeighbours::Span>> ClauseNeighbours::spans_of(
    const std::vector<const std::vector<Clause>*>& rules, Field field, const SetPool& pool) {
    std::vector<std::optional<Span>> spans;
    spans.reserve(rules.size());
    for (const std::vector<Clause>* clauses : rules) {
        spans.push_back(clauses == nullptr ? std::nullopt : span_of(*clauses, field, pool));
    }
    return spans;
}

ClauseNeighbours::ClauseNeighbours(const std::vector<const std::vector<Clause>*>& rules,
                                   const SetPool& pool) {
    std::size_t most = 0;
    for (const Field field : kTellingFields) {
        std::vector<std::optional<Span>> spans = spans_of(rules, field, pool);
        std::set<std::tuple<bool, Wide, Wide>> different;
        for (const std::optional<Span>& span : spans) {
            if (span) {
                different.emplace(span->v6, span->first, span->last);
            }
        }
        if (spans_.empty() || different.size() > most) {
            most = different.size();
            spans_ = std::move(spans);
        }
    }
    list();
}

void ClauseNeighbours::list() {
    for (std::size_t rule = 0; rule < spans_.size(); ++rule) {
        if (spans_[rule]) {
            listed_.push_back({*spans_[rule], 0, rule});
        } else {
            anywhere_.push_back(rule);
        }
    }
    std::sort(listed_.begin(), listed_.end(), [](const Listed& a, const Listed& b) {
        return std::tie(a.span.v6, a.span.first) < std::tie(b.span.v6, b.span.first);
    });
    for (std::size_t i = 0; i < listed_.size(); ++i) {
        const bool begins = i == 0 || listed_[i - 1].span.v6 != listed_[i].span.v6;
        listed_[i].furthest =
            begins ? listed_[i].span.last : std::max(listed_[i - 1].furthest, listed_[i].span.last);
    }
}

std::vector<std::size_t> ClauseNeighbours::of(std::size_t rule) const {
    std::vector<std::size_t> near = anywhere_;
    const std::optional<Span>& span = spans_[rule];
    if (!span) {
        near.resize(spans_.size());
        for (std::size_t i = 0; i < near.size(); ++i) {
            near[i] = i;
        }
        return near;
    }
    // Backwards from the last that begins within the span to where none reaches it any more.
    const auto behind =
        std::partition_point(listed_.begin(), listed_.end(), [&span](const Listed& one) {
            return std::tie(one.span.v6, one.span.first) <= std::tie(span->v6, span->last);
        });
    for (auto at = std::make_reverse_iterator(behind);
         at != listed_.rend() && at->span.v6 == span->v6 && at->furthest >= span->first; ++at) {
        if (at->span.last >= span->first) {
            near.push_back(at->rule);
        }
    }
    std::sort(near.begin(), near.end());
    return near;
}

}  // namespace sluice
