#include "lib/match/classifier.hpp"

#include <bit>

namespace sluice {
Classifier::Classifier(ClassifierParts parts, Lookups lookups)
    : parts_{std::move(parts)}, lookups_{lookups}, planes_{parts_} {
    for (const DimensionParts& dimension : parts_.dimensions) {
        dimensions_.emplace_back(dimension, lookups);
    }
    finish_lookups(lookups);
    texts_ = TextMatcher{parts_.texts, parts_.rule_of.size()};
    text_clauses_.resize(blocks_for(parts_.rule_of.size()));
    for (const TextTermParts& term : parts_.texts.terms) {
        text_clauses_[term.clause / kBlockBits].words[term.clause % kBlockBits / 64] |=
            std::uint64_t{1} << (term.clause % 64);
    }
}

void Classifier::make_fast() {
    if (lookups_ == Lookups::Fast) {
        return;
    }
    lookups_ = Lookups::Fast;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        dimensions_[i] = Dimension{parts_.dimensions[i], Lookups::Fast};
    }
    finish_lookups(Lookups::Fast);
}

// Without fast look-ups packets come one at a time: that is the index's business.
void Classifier::finish_lookups(Lookups lookups) {
    set_strides();
    program_ =
        lookups == Lookups::Fast ? ClauseProgram::make(parts_, dimensions_) : ClauseProgram{};
}

void Classifier::choose(Way way) {
    program_ =
        way == Way::ByClause ? ClauseProgram::make_anyway(parts_, dimensions_) : ClauseProgram{};
}

void Classifier::set_strides() {
    for (const BitPlane& plane : planes_.planes()) {
        for (const BitPlane::Factor& factor : plane.factors()) {
            dimensions_[factor.dimension].set_stride(factor.stride);
        }
    }
}

std::size_t Classifier::bytes() const noexcept {
    std::size_t bytes = parts_.blocks.size() * sizeof(Block) +
                        (parts_.rule_of.size() + parts_.always.size()) * sizeof(std::uint32_t);
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        const DimensionParts& dimension = parts_.dimensions[i];
        bytes += dimensions_[i].bytes(dimension) + dimension.open.size() * sizeof(std::uint64_t) +
                 dimension.references.size() * sizeof(std::uint32_t) +
                 dimension.steps.size() * sizeof(dimension.steps.front()) +
                 dimension.v6_steps.size() * sizeof(dimension.v6_steps.front());
    }
    return bytes + planes_.bytes() + texts_.bytes() + text_clauses_.size() * sizeof(Block);
}

void Classifier::find_rows(std::span<const Subject> subjects, Rows& rows) const noexcept {
    const std::span<const BitPlane> planes = planes_.planes();
    for (std::size_t plane = 0; plane < planes.size(); ++plane) {
        std::uint32_t* const to = rows[plane].data();
        const std::span<const BitPlane::Factor> factors = planes[plane].factors();
        const std::uint32_t first = factors.front().dimension;
        dimensions_[first].find_rows<Dimension::To::Set>(subjects, parts_.dimensions[first], to);
        for (const BitPlane::Factor& factor : factors.subspan(1)) {
            const std::uint32_t other = factor.dimension;
            dimensions_[other].find_rows<Dimension::To::Add>(subjects, parts_.dimensions[other],
                                                             to);
        }
    }
}

void Classifier::match(std::span<const Subject> subjects, TextScratch* texts,
                       FoundRules& found) const noexcept {
    ClausePlanes::Search search;
    search.packets = subjects.size();
    find_rows(subjects, search.rows);
    found.clear();
    FoundRules::Adder adder{found};
    if (asks_text() || planes_.planes().empty()) [[unlikely]] {
        planes_.list_open(search);
        find_texts(search, subjects, asks_text() ? texts : nullptr, adder);
    } else {
        planes_.find(search, parts_.rule_of.data(), adder);
    }
    found.settle(subjects.size(), parts_.always);
}

// What else a block's clauses ask narrows it before its rules are listed.
void Classifier::find_texts(const ClausePlanes::Search& search, std::span<const Subject> subjects,
                            TextScratch* texts, FoundRules::Adder& found) const noexcept {
    std::size_t looked_at = kMaxSubjects;  // the packet whose texts
    for (const OpenBlocks::Open& open : search.open.all()) {
        Block satisfied = planes_.satisfied(search, open);
        if (texts != nullptr) {
            if (open.packet != looked_at) {
                TextMatcher::begin(*texts);
                looked_at = open.packet;
            }
            texts_.narrow(satisfied, open.block, subjects[open.packet], *texts);
        }
        const std::uint32_t* rules = &parts_.rule_of[open.block * kBlockBits];
        for (const std::uint64_t word : satisfied.words) {
            for (std::uint64_t bits = word; bits != 0; bits &= bits - 1) {
                found.add(open.packet, rules[static_cast<unsigned>(std::countr_zero(bits))]);
            }
            rules += 64;
        }
    }
}

}  // namespace sluice
