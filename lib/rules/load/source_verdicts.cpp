#include "lib/rules/load/source_verdicts.hpp"

#include "lib/rules/rule_actions.hpp"

#include <bit>

namespace sluice {
namespace {

bool is_plain(const RuleSet& set, ActionIndex action) {
    const Verdict verdict = set.actions[action].verdict;
    return verdict == Verdict::Pass || verdict == Verdict::Drop;
}

// True if what it refuses may get something else than nothing.
bool may_answer(const RuleSet& set, const Rule& rule) {
    return any_action(rule, [&](ActionIndex action) { return !is_plain(set, action); });
}

// The clauses that test a text.
ClauseBits text_clauses(const ClassifierParts& parts) {
    ClauseBits bits(blocks_for(parts.rule_of.size()));
    for (const TextTermParts& term : parts.texts.terms) {
        bits[term.clause / kBlockBits].words[term.clause % kBlockBits / 64] |=
            std::uint64_t{1} << (term.clause % 64);
    }
    return bits;
}

}  // namespace

SourceVerdicts::Part SourceVerdicts::part_of(const RuleSet& set, const Rule& rule) {
    if (rule.on_match != OnMatch::Meter) {
        return {.decides = true,
                .drops = rule.decides_on_sight() && rule.match_action == kDropAction};
    }
    // A candidate counts what its rule's bans keep back.
    return {.disturbs = rule.rejected_spend || rule.candidate || may_answer(set, rule)};
}

SourceVerdicts::SourceVerdicts(const RuleSet& set, const ReceivingPort& port)
    : set_{set},
      parts_{set.classifier.parts()},
      certain_{all_clauses(parts_.rule_of.size())},
      possible_{certain_} {
    for (const Rule& rule : set.rules) {
        of_rule_.push_back(part_of(set, rule));
    }
    for (const DimensionParts& dimension : parts_.dimensions) {
        narrow_to(dimension, port);
    }
    leave_out(certain_, text_clauses(parts_));
    verdicts_.resize(source_rows_ ? source_rows_->count() : 1);
}

void SourceVerdicts::narrow_to(const DimensionParts& dimension, const ReceivingPort& port) {
    const ClauseRows rows{parts_, dimension};
    ClauseBits bits(certain_.size());
    if (dimension.field == Field::IpSrc) {
        source_ = &dimension;
        source_rows_.emplace(parts_, dimension);
    } else if (dimension.field == Field::Dir || dimension.field == Field::Port) {
        rows.read(rows.row_of(dimension.field == Field::Dir ? static_cast<std::uint64_t>(port.dir)
                                                            : port.pair),
                  bits);
        keep_common(certain_, bits);
        keep_common(possible_, bits);
    } else {
        for (std::size_t row = 0; row < rows.count(); ++row) {
            rows.read(row, bits);
            keep_common(certain_, bits);
        }
    }
}

// Calls take(rule) for what the clauses are of.
template <typename Take>
void SourceVerdicts::for_each_rule(const ClauseBits& bits, Take&& take) const {
    for (std::size_t block = 0; block < bits.size(); ++block) {
        for (std::size_t word = 0; word < kBlockWords; ++word) {
            for (std::uint64_t left = bits[block].words[word]; left != 0; left &= left - 1) {
                take(parts_.rule_of[block * kBlockBits + word * 64 +
                                    static_cast<unsigned>(std::countr_zero(left))]);
            }
        }
    }
    for (const std::uint32_t rule : parts_.always) {
        take(rule);
    }
}

const SourceVerdict& SourceVerdicts::of_row(std::uint32_t row) {
    SourceVerdict& verdict = verdicts_[row];
    if (!verdict.known) {
        verdict = judge(row);
    }
    return verdict;
}

SourceVerdict SourceVerdicts::judge(std::uint32_t row) const {
    ClauseBits possible = possible_;
    ClauseBits certain = certain_;
    if (source_rows_) {
        ClauseBits bits(certain.size());
        source_rows_->read(row, bits);
        keep_common(possible, bits);
        keep_common(certain, bits);
    }
    SourceVerdict verdict{.known = true, .open = true};
    std::uint32_t first = SourceVerdict::kNoRule;
    for_each_rule(possible, [&](std::uint32_t rule) {
        first = of_rule_[rule].decides ? std::min(first, rule) : first;
        verdict.open = verdict.open && !of_rule_[rule].decides && !of_rule_[rule].disturbs;
        verdict.may_bypass |= set_.rules[rule].on_match == OnMatch::Bypass;
    });
    for_each_rule(certain, [&](std::uint32_t rule) {
        if (of_rule_[rule].drops) {
            verdict.denied_by = std::min(verdict.denied_by, rule);
        }
        if (verdict.open && (set_.rules[rule].overrides != nullptr || set_.rules[rule].bans())) {
            verdict.matching.push_back(rule);
        }
    });
    if (verdict.denied_by != first) {
        verdict.denied_by = SourceVerdict::kNoRule;
    }
    return verdict;
}

}  // namespace sluice
