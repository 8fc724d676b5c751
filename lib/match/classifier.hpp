#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/clause_planes.hpp"
#include "lib/match/dimension.hpp"
#include "lib/match/found_rules.hpp"
#include "lib/match/subject.hpp"
#include "lib/match/text_matcher.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sluice {

// Which rules match a packet, at a cost that hardly depends on how many there are. Every dimension
// that a rule asks is looked up once per packet and leads to a row of bits, one per clause; the
// AND of the rows is the answer; dimensions of few rows are multiplied out beforehand. A summary,
// one bit per 512 clauses, says first where the AND can be anything but zero. (Lakshman and
// Stiliadis, SIGCOMM 1998; with aggregation, Baboescu and Varghese, SIGCOMM 2001.) Never changed
// once it is used.
class Classifier {
public:
    // For no rules at all.
    Classifier() = default;
    // The parts are sound: see are_sound().
    explicit Classifier(ClassifierParts parts, Lookups lookups = Lookups::Fast);

    // Before packets come in numbers; of one that is fast already nothing changes.
    void make_fast();

    // For each plane, the row of each subject of a burst.
    using Rows = ClausePlanes::Rows;

    // The rules that every packet satisfies, in order.
    [[nodiscard]] std::span<const std::uint32_t> always() const noexcept { return parts_.always; }
    // Whether there are no others.
    [[nodiscard]] bool asks_nothing() const noexcept {
        return dimensions_.empty() && texts_.asks_nothing();
    }
    // Whether a rule asks a text, so that match() wants a scratch.
    [[nodiscard]] bool asks_text() const noexcept { return !texts_.asks_nothing(); }
    [[nodiscard]] const TextMatcher& texts() const noexcept { return texts_; }

    void find_rows(std::span<const Subject> subjects, Rows& rows) const noexcept;
    // The rules that match each subject. Its texts are looked at only if a clause that asks them
    // has all else it asks; `texts` may be nullptr when no rule
    // asks one.
    void match(std::span<const Subject> subjects, TextScratch* texts,
               FoundRules& found) const noexcept;

    // What it was made from.
    [[nodiscard]] const ClassifierParts& parts() const noexcept { return parts_; }
    // With fast look-ups, whichever it has.
    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    void set_strides();
    void find_texts(const ClausePlanes::Search& search, std::span<const Subject> subjects,
                    TextScratch* texts, FoundRules::Adder& found) const noexcept;

    ClassifierParts parts_;
    Lookups lookups_ = Lookups::Fast;
    std::vector<Dimension> dimensions_;
    ClausePlanes planes_;
    TextMatcher texts_;
};

}  // namespace sluice
