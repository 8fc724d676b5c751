#include "lib/policy/clauses/row_builder.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The reference to a block that satisfies nothing.
constexpr std::uint32_t kNothing = 0xFFFF'FFFF;

bool is_used(const std::vector<std::uint64_t>& used, std::size_t block) noexcept {
    return ((used[block / 64] >> (block % 64)) & 1) != 0;
}

}  // namespace

RowBuilder::RowBuilder(Field field, std::span<const RuleClause> clauses, const SetPool& pool,
                       BlockPool& blocks)
    : pool_{pool}, blocks_{blocks} {
    parts_.field = field;
    parts_.used.resize(summary_for(clauses.size()));
    now_.resize(blocks_for(clauses.size()));
    references_now_.resize(now_.size(), kNothing);
    changed_.resize(now_.size(), 1);
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        const std::size_t block = i / kBlockBits;
        const std::uint64_t bit = std::uint64_t{1} << (i % 64);
        const std::size_t word = i % kBlockBits / 64;
        if (clauses[i].clause.empty()) {
            continue;  // only there to fill a block
        }
        const std::vector<ClauseTerm>& clause = clauses[i].clause.fields;
        const auto term = std::find_if(clause.begin(), clause.end(),
                                       [&](const ClauseTerm& t) { return t.field == field; });
        if (term == clause.end()) {
            now_[block].words[word] |= bit;  // with any value of the field
            continue;
        }
        parts_.used[block / 64] |= std::uint64_t{1} << (block % 64);
        std::vector<Flip>& flips = flips_[term->set];
        if (flips.empty() || flips.back().block != block) {
            flips.push_back({static_cast<std::uint32_t>(block), {}});
        }
        flips.back().bits.words[word] |= bit;
    }
}

bool RowBuilder::build(std::size_t most) {
    for (const auto& [set, flips] : flips_) {
        if (pool_[set].absent) {
            flip(set);
        }
    }
    parts_.absent_row = row_now();
    for (const auto& [set, flips] : flips_) {
        if (pool_[set].absent) {
            flip(set);
        }
    }
    const bool address = row_of(parts_.field).kind == FieldKind::Address;
    return sweep(false, largest(parts_.field), parts_.steps, most) &&
           (!address || sweep(true, ~Wide{0}, parts_.v6_steps, most));
}

void RowBuilder::flip(SetId set) {
    for (const Flip& flip : flips_.at(set)) {
        for (std::size_t word = 0; word < flip.bits.words.size(); ++word) {
            now_[flip.block].words[word] ^= flip.bits.words[word];
        }
        changed_[flip.block] = 1;
    }
}

// The row of the clauses that are satisfied now.
std::uint32_t RowBuilder::row_now() {
    for (std::size_t block = 0; block < now_.size(); ++block) {
        if (changed_[block] != 0 && is_used(parts_.used, block)) {
            references_now_[block] = now_[block] == Block{} ? kNothing : blocks_.add(now_[block]);
        }
        changed_[block] = 0;
    }
    const auto [at, fresh] =
        rows_.try_emplace(references_now_, static_cast<std::uint32_t>(rows_.size()));
    if (!fresh) {
        return at->second;
    }
    std::vector<std::uint64_t> open(parts_.used.size());
    for (std::size_t block = 0; block < now_.size(); ++block) {
        if (references_now_[block] != kNothing) {
            open[block / 64] |= std::uint64_t{1} << (block % 64);
            parts_.references.push_back(references_now_[block]);
        }
    }
    parts_.open.insert(parts_.open.end(), open.begin(), open.end());
    return at->second;
}

// The beginnings and ends of the sets, in order.
std::vector<RowBuilder::Event> RowBuilder::events_of(bool v6, Wide max) const {
    std::vector<Event> events;
    for (const auto& [set, flips] : flips_) {
        for (const WideRange& range : v6 ? pool_[set].v6 : pool_[set].numbers) {
            events.push_back({range.first, set});
            if (range.last < max) {
                events.push_back({range.last + 1, set});
            }
        }
    }
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.at < b.at; });
    return events;
}

template <typename Key>
bool RowBuilder::sweep(bool v6, Wide max, std::vector<Step<Key>>& steps, std::size_t most) {
    const std::vector<Event> events = events_of(v6, max);
    auto event = events.begin();
    Wide at = 0;
    for (;;) {
        for (; event != events.end() && event->at == at; ++event) {
            flip(event->set);
        }
        const std::uint32_t row = row_now();
        if (steps.empty() || steps.back().row != row) {
            steps.push_back({static_cast<Key>(at), row});
        }
        bytes_ = blocks_.size() * sizeof(Block) + parts_.references.size() * sizeof(std::uint32_t) +
                 parts_.open.size() * sizeof(std::uint64_t) +
                 parts_.steps.size() * sizeof(parts_.steps.front()) +
                 parts_.v6_steps.size() * sizeof(parts_.v6_steps.front());
        if (bytes_ > most) {
            return false;
        }
        if (event == events.end()) {
            break;
        }
        at = event->at;
    }
    // Sets that reach to the end are taken back: every bit of a set is as it was.
    for (const auto& [set, flips] : flips_) {
        const std::vector<WideRange>& ranges = v6 ? pool_[set].v6 : pool_[set].numbers;
        if (!ranges.empty() && ranges.back().last >= max) {
            flip(set);
        }
    }
    return true;
}

}  // namespace sluice
