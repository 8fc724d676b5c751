#include "lib/match/classifier.hpp"

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

}  // namespace sluice
