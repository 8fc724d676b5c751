#include "lib/policy/texts/text_terms.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace sluice {
namespace {

std::uint32_t index_of(const std::vector<TextEntry>& sorted, const TextEntry& entry) {
    return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), entry) -
                                      sorted.begin());
}

}  // namespace

TextParts text_parts_of(std::span<const RuleClause> clauses, const TextPool& pool) {
    // The pool's numbers follow the order of the file; these follow what is tested, so that the
    // same rules are compiled the same.
    std::map<TextPool::Test, std::uint32_t> tests;
    std::set<TextEntry> entries;
    for (const RuleClause& one : clauses) {
        for (const TextTerm& term : one.clause.texts) {
            const TextPool::Test& test = pool[term.test];
            if (tests.try_emplace(test, 0).second) {
                entries.insert(test.entries.begin(), test.entries.end());
            }
        }
    }
    TextParts parts;
    parts.entries.assign(entries.begin(), entries.end());
    for (const bool presence : {true, false}) {
        for (auto& [test, number] : tests) {
            if (test.entries.empty() != presence) {
                continue;
            }
            number = static_cast<std::uint32_t>(parts.tests.size());
            TextTestParts& numbered = parts.tests.emplace_back(TextTestParts{test.field, {}});
            for (const TextEntry& entry : test.entries) {
                numbered.entries.push_back(index_of(parts.entries, entry));
            }
        }
    }
    for (std::uint32_t clause = 0; clause < clauses.size(); ++clause) {
        const std::size_t first = parts.terms.size();
        for (const TextTerm& term : clauses[clause].clause.texts) {
            parts.terms.push_back({clause, tests.at(pool[term.test]), term.negated});
        }
        std::sort(parts.terms.begin() + static_cast<std::ptrdiff_t>(first), parts.terms.end(),
                  [](const auto& a, const auto& b) { return a.test < b.test; });
    }
    return parts;
}

std::optional<std::string> find_excess(const TextParts& parts) {
    std::size_t bytes = 0;
    std::size_t patterns = 0;
    std::size_t uses = 0;
    std::size_t ranges = 0;
    for (const TextEntry& entry : parts.entries) {
        ranges += entry.how == TextHow::Within ? 1U : 0U;
        bytes += entry.text.size();
        patterns += is_scanned(entry.how) ? 1U : 0U;
    }
    for (const TextTestParts& test : parts.tests) {
        uses += test.entries.size();
    }
    struct Row {
        std::size_t count;
        std::size_t most;
        std::string_view what;
    };
    const Row rows[] = {
        {patterns, kMaxPatterns, "patterns (`contains` and `matches`)"},
        {std::max(parts.entries.size(), uses), kMaxTextEntries, "texts"},
        {bytes, kMaxTextBytes, "bytes of text"},
        {ranges, kMaxNumberRanges, "ranges of numbers of later layers"},
        {parts.tests.size(), kMaxTextTests, "different tests of texts"},
        {parts.terms.size(), kMaxTextTerms, "tests of texts in all alternatives"},
    };
    for (const Row& row : rows) {
        if (row.count > row.most) {
            return "the conditions name " + std::to_string(row.count) + " " +
                   std::string{row.what} + " together, and at most " + std::to_string(row.most) +
                   " can be held";
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> place_of(const TextEntry& entry, const Expression& tree) {
    const TextTest& test = tree.text;
    if (tree.kind == Expression::Kind::Text && test.field == entry.field && test.how == entry.how &&
        test.ignore_case == entry.ignore_case &&
        std::find(test.texts.begin(), test.texts.end(), entry.text) != test.texts.end()) {
        return test.offset;
    }
    for (const Expression& part : tree.parts) {
        if (const std::optional<std::size_t> place = place_of(entry, part)) {
            return place;
        }
    }
    return std::nullopt;
}

}  // namespace sluice
