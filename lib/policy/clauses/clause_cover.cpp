#include "lib/policy/clauses/clause_cover.hpp"

#include <algorithm>
#include <iterator>

namespace sluice {
namespace {

bool includes(const std::vector<WideRange>& outer, const std::vector<WideRange>& inner) noexcept {
    auto at = outer.begin();
    for (const WideRange& range : inner) {
        at = std::partition_point(at, outer.end(),
                                  [&](const WideRange& one) { return one.last < range.first; });
        if (at == outer.end() || at->first > range.first || at->last < range.last) {
            return false;
        }
    }
    return true;
}

// True if the packets of `inner` are all of `outer`: each field of `outer` stands in `inner`, at
// least as strict, and each test of a text too.
bool includes(const Clause& outer, const Clause& inner, const SetPool& pool) noexcept {
    if (!std::includes(inner.texts.begin(), inner.texts.end(), outer.texts.begin(),
                       outer.texts.end())) {
        return false;
    }
    auto i = inner.fields.begin();
    for (const ClauseTerm& term : outer.fields) {
        i = std::find_if(i, inner.fields.end(),
                         [&](const ClauseTerm& one) { return one.field >= term.field; });
        if (i == inner.fields.end() || i->field != term.field ||
            (i->set != term.set && !includes(pool[term.set], pool[i->set]))) {
            return false;
        }
    }
    return true;
}

// The part of all values that a set has, roughly; for comparing fields with one another.
double share(Field field, const DomainSet& set) noexcept {
    const auto width = [](const std::vector<WideRange>& ranges) {
        double sum = 0;
        for (const WideRange& range : ranges) {
            sum += static_cast<double>(range.last - range.first) + 1;
        }
        return sum;
    };
    const double of_numbers = width(set.numbers) / (static_cast<double>(largest(field)) + 1);
    return of_numbers + width(set.v6) / 0x1p128 + (set.absent ? 1 : 0);
}

}  // namespace

bool includes(const DomainSet& outer, const DomainSet& inner) noexcept {
    return (outer.absent || !inner.absent) && includes(outer.numbers, inner.numbers) &&
           includes(outer.v6, inner.v6);
}

void ClauseCover::add(const Clause& clause, std::uint32_t owner) {
    const auto kept = static_cast<std::uint32_t>(kept_.size());
    kept_.push_back({&clause, owner});
    sorted_ = false;
    const auto narrowest =
        std::min_element(clause.fields.begin(), clause.fields.end(), [&](auto& a, auto& b) {
            return share(a.field, pool_[a.set]) < share(b.field, pool_[b.set]);
        });
    if (narrowest == clause.fields.end() ||
        pool_[narrowest->set].numbers.size() + pool_[narrowest->set].v6.size() > kMaxListed) {
        everywhere_.push_back(kept);
    } else {
        list(*narrowest, kept);
    }
}

void ClauseCover::list(const ClauseTerm& term, std::uint32_t kept) {
    FieldLists& lists = fields_[static_cast<std::size_t>(term.field)];
    const DomainSet& set = pool_[term.set];
    for (const WideRange& range : set.numbers) {
        lists.numbers.push_back({range.first, range.last, 0, kept});
    }
    for (const WideRange& range : set.v6) {
        lists.v6.push_back({range.first, range.last, 0, kept});
    }
    if (set.absent) {
        lists.absent.push_back(kept);
    }
}

void ClauseCover::sort() {
    const auto sort_one = [](std::vector<Listed>& lists) {
        std::sort(lists.begin(), lists.end(),
                  [](const Listed& a, const Listed& b) { return a.first < b.first; });
        Wide furthest = 0;
        for (Listed& one : lists) {
            furthest = std::max(furthest, one.last);
            one.furthest = furthest;
        }
    };
    for (FieldLists& field : fields_) {
        sort_one(field.numbers);
        sort_one(field.v6);
    }
    sorted_ = true;
}

std::optional<std::uint32_t> ClauseCover::first_owner(const Clause& clause, std::uint32_t before) {
    if (!sorted_) {
        sort();
    }
    found_ = before;
    look(everywhere_, clause);
    // A clause that contains this one has one of its values, and so is listed under it.
    for (const ClauseTerm& term : clause.fields) {
        const FieldLists& lists = fields_[static_cast<std::size_t>(term.field)];
        const DomainSet& set = pool_[term.set];
        if (!set.numbers.empty()) {
            look(lists.numbers, set.numbers.front().first, clause);
        } else if (!set.v6.empty()) {
            look(lists.v6, set.v6.front().first, clause);
        } else {
            look(lists.absent, clause);
        }
    }
    return found_ == before ? std::nullopt : std::optional{found_};
}

void ClauseCover::look(const std::vector<Listed>& lists, Wide value, const Clause& clause) {
    const auto behind = std::partition_point(lists.begin(), lists.end(),
                                             [&](const Listed& one) { return one.first <= value; });
    for (auto at = std::make_reverse_iterator(behind); at != lists.rend() && at->furthest >= value;
         ++at) {
        if (at->last >= value) {
            try_one(at->kept, clause);
        }
    }
}

void ClauseCover::look(const std::vector<std::uint32_t>& all, const Clause& clause) {
    for (const std::uint32_t kept : all) {
        try_one(kept, clause);
    }
}

void ClauseCover::try_one(std::uint32_t kept, const Clause& clause) {
    const Kept& one = kept_[kept];
    if (one.owner < found_ && looks_ < kMaxLooks) {
        ++looks_;
        found_ = includes(*one.clause, clause, pool_) ? one.owner : found_;
    }
}

}  // namespace sluice
