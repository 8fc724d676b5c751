#include "lib/match/text_scratch.hpp"

#include "lib/match/text_matcher.hpp"

#include <algorithm>

namespace sluice {

TextScratch::TextScratch(const TextMatcher& matcher)
    : pattern_hits_{matcher.most_patterns_},
      hits_(matcher.tests_),
      stamps_(matcher.tests_),
      rows_(matcher.base_.size()),
      row_stamps_(matcher.base_.size()) {}

Result<std::unique_ptr<TextScratch>> TextScratch::make(const TextMatcher& matcher) {
    std::unique_ptr<TextScratch> scratch{new TextScratch{matcher}};
    for (const TextMatcher::FieldTexts& texts : matcher.fields_) {
        for (const TextMatcher::Database& database : texts.databases) {
            if (const Result<Done> fits = scratch->patterns_.fit(database.patterns); !fits) {
                return fits.error();
            }
        }
    }
    return scratch;
}

void TextScratch::begin() noexcept {
    hit_count_ = 0;
    looked_ = 0;
    if (++packet_ == 0) {  // once in four thousand million packets
        std::fill(stamps_.begin(), stamps_.end(), 0U);
        std::fill(row_stamps_.begin(), row_stamps_.end(), 0U);
        packet_ = 1;
    }
}

}  // namespace sluice
