#include "lib/policy/clauses/possible_texts.hpp"

#include "lib/match/number_ranges.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

// The texts of two entries, as they are compared with each other: in small letters if `folded`.
struct EntryTexts {
    std::string a;
    std::string b;

    EntryTexts(const TextEntry& one, const TextEntry& other, bool folded)
        : a{folded ? lowered(one.text) : one.text}, b{folded ? lowered(other.text) : other.text} {}
};

bool is_part(std::string_view whole, TextHow how, std::string_view part) noexcept {
    switch (how) {
        case TextHow::Equals:
            return whole == part;
        case TextHow::StartsWith:
            return whole.starts_with(part);
        case TextHow::EndsWith:
            return whole.ends_with(part);
        case TextHow::Contains:
            return whole.find(part) != std::string_view::npos;
        default:
            return false;
    }
}

// True if some text may satisfy both.
bool may_agree(const TextEntry& one, const TextEntry& other) {
    if (one.how == TextHow::Matches || other.how == TextHow::Matches) {
        return true;
    }
    const EntryTexts texts{one, other, one.ignore_case || other.ignore_case};
    if (one.how == TextHow::Equals) {
        return is_part(texts.a, other.how, texts.b);
    }
    if (other.how == TextHow::Equals) {
        return is_part(texts.b, one.how, texts.a);
    }
    if (one.how != other.how || one.how == TextHow::Contains) {
        return true;
    }
    return is_part(texts.a, one.how, texts.b) || is_part(texts.b, one.how, texts.a);
}

// True if every text that satisfies `one` satisfies `other`.
bool implies(const TextEntry& one, const TextEntry& other) {
    if (one.how == TextHow::Matches || other.how == TextHow::Matches ||
        (one.ignore_case && !other.ignore_case)) {
        return false;
    }
    const bool is_known_there =
        one.how == TextHow::Equals || one.how == other.how || other.how == TextHow::Contains;
    const EntryTexts texts{one, other, other.ignore_case};
    return is_known_there && is_part(texts.a, other.how, texts.b);
}

NumberSpan span_of(const TextEntry& entry) {
    if (entry.how == TextHow::Within) {
        return read_number_span(entry.text).value_or(NumberSpan{0, UINT64_MAX});
    }
    const std::uint64_t number = read_decimal(entry.text).value_or(0);
    return {number, number};
}

// All that a clause asks of one field.
class FieldTests {
public:
    FieldTests(const Clause& clause, const SetPool& pool, TextField field, std::size_t& budget)
        : field_{field}, budget_{budget} {
        for (const TextTerm& term : clause.texts) {
            const TextPool::Test& test = pool.texts()[term.test];
            if (test.field == field) {
                (term.negated ? negated_ : asked_).push_back(&test);
            }
        }
    }

    [[nodiscard]] bool contradict() const {
        if (asked_.empty()) {
            return false;
        }
        const bool is_absent =
            std::any_of(negated_.begin(), negated_.end(),
                        [](const TextPool::Test* test) { return test->entries.empty(); });
        return is_absent || (row_of(field_).kind == TextKind::Number ? !has_number() : !has_text());
    }

private:
    [[nodiscard]] bool has_number() const {
        std::vector<NumberSpan> left{{0, row_of(field_).max}};
        for (const TextPool::Test* test : asked_) {
            left = test->entries.empty() ? left : common_to(left, *test);
        }
        for (const TextPool::Test* test : negated_) {
            for (const TextEntry& entry : test->entries) {
                left = without(left, span_of(entry));
            }
        }
        return !left.empty();
    }
    std::vector<NumberSpan> common_to(const std::vector<NumberSpan>& spans,
                                      const TextPool::Test& test) const {
        std::vector<NumberSpan> common;
        for (const NumberSpan& span : spans) {
            for (const TextEntry& entry : test.entries) {
                const NumberSpan other = span_of(entry);
                const NumberSpan both{std::max(span.first, other.first),
                                      std::min(span.last, other.last)};
                if (both.first <= both.last) {
                    common.push_back(both);
                }
                if (!spend()) {
                    return spans;
                }
            }
        }
        return common;
    }
    std::vector<NumberSpan> without(const std::vector<NumberSpan>& spans,
                                    const NumberSpan& gone) const {
        std::vector<NumberSpan> left;
        for (const NumberSpan& span : spans) {
            if (!spend() || gone.last < span.first || span.last < gone.first) {
                left.push_back(span);
                continue;
            }
            if (span.first < gone.first) {
                left.push_back({span.first, gone.first - 1});
            }
            if (gone.last < span.last) {
                left.push_back({gone.last + 1, span.last});
            }
        }
        return left;
    }

    // Each test needs an entry that agrees with one of every other test.
    [[nodiscard]] bool has_text() const {
        return std::all_of(asked_.begin(), asked_.end(), [this](const TextPool::Test* test) {
            return test->entries.empty() ||
                   std::any_of(test->entries.begin(), test->entries.end(),
                               [this](const TextEntry& entry) { return is_possible(entry); });
        });
    }
    [[nodiscard]] bool is_possible(const TextEntry& entry) const {
        const auto agrees = [&](const TextPool::Test* test) {
            return test->entries.empty() ||
                   std::any_of(
                       test->entries.begin(), test->entries.end(),
                       [&](const TextEntry& other) { return !spend() || may_agree(entry, other); });
        };
        const auto excludes = [&](const TextPool::Test* test) {
            return std::any_of(
                test->entries.begin(), test->entries.end(),
                [&](const TextEntry& other) { return spend() && implies(entry, other); });
        };
        return std::all_of(asked_.begin(), asked_.end(), agrees) &&
               std::none_of(negated_.begin(), negated_.end(), excludes);
    }

    // False: nothing is left for a comparison.
    [[nodiscard]] bool spend() const noexcept {
        budget_ -= budget_ > 0 ? 1 : 0;
        return budget_ > 0;
    }

    TextField field_{};
    std::size_t& budget_;
    std::vector<const TextPool::Test*> asked_;
    std::vector<const TextPool::Test*> negated_;
};

}  // namespace

bool texts_contradict(const Clause& clause, const SetPool& pool, std::size_t& budget) {
    return std::any_of(clause.texts.begin(), clause.texts.end(), [&](const TextTerm& term) {
        return !term.negated &&
               FieldTests{clause, pool, pool.texts()[term.test].field, budget}.contradict();
    });
}

}  // namespace sluice
