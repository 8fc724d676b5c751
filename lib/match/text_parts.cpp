#include "lib/match/text_parts.hpp"

#include "lib/match/number_ranges.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

namespace sluice {
namespace {

bool entries_hold(const std::vector<TextEntry>& entries) {
    std::size_t bytes = 0;
    std::size_t patterns = 0;
    std::size_t ranges = 0;
    for (const TextEntry& entry : entries) {
        const bool known = static_cast<std::size_t>(entry.field) < kTextFieldCount &&
                           static_cast<std::size_t>(entry.how) < kTextHowCount;
        if (!known || entry.text.size() > kMaxEntrySize) {
            return false;
        }
        if (entry.how == TextHow::Within && !read_number_span(entry.text)) {
            return false;
        }
        bytes += entry.text.size();
        patterns += is_scanned(entry.how) ? 1U : 0U;
        ranges += entry.how == TextHow::Within ? 1U : 0U;
    }
    return ranges <= kMaxNumberRanges && entries.size() <= kMaxTextEntries &&
           bytes <= kMaxTextBytes && patterns <= kMaxPatterns &&
           std::adjacent_find(entries.begin(), entries.end(), std::greater_equal<>{}) ==
               entries.end();
}

// Tests of a field's presence come first, one for a field at most.
bool tests_hold(const TextParts& parts) {
    std::size_t uses = 0;
    for (std::size_t i = 0; i < parts.tests.size(); ++i) {
        const TextTestParts& test = parts.tests[i];
        uses += test.entries.size();
        const auto is_wrong = [&](std::uint32_t entry) {
            return entry >= parts.entries.size() || parts.entries[entry].field != test.field;
        };
        if (static_cast<std::size_t>(test.field) >= kTextFieldCount ||
            std::any_of(test.entries.begin(), test.entries.end(), is_wrong) ||
            std::adjacent_find(test.entries.begin(), test.entries.end(), std::greater_equal<>{}) !=
                test.entries.end()) {
            return false;
        }
        const bool in_order =
            i == 0 || !test.entries.empty() ||
            (parts.tests[i - 1].entries.empty() && parts.tests[i - 1].field < test.field);
        if (!in_order) {
            return false;
        }
    }
    return parts.tests.size() <= kMaxTextTests && uses <= kMaxTextEntries;
}

bool terms_hold(const TextParts& parts, std::size_t clauses) {
    const auto comes_late = [](const TextTermParts& a, const TextTermParts& b) {
        return std::tie(a.clause, a.test) >= std::tie(b.clause, b.test);
    };
    return parts.terms.size() <= kMaxTextTerms &&
           std::all_of(parts.terms.begin(), parts.terms.end(),
                       [&](const TextTermParts& term) {
                           return term.clause < clauses && term.test < parts.tests.size();
                       }) &&
           std::adjacent_find(parts.terms.begin(), parts.terms.end(), comes_late) ==
               parts.terms.end();
}

// Every pattern stands in a database of its field, and nothing else does.
bool databases_hold(const TextParts& parts) {
    std::vector<std::uint8_t> covered(parts.entries.size());
    std::size_t bytes = 0;
    std::size_t patterns = 0;
    for (const TextDatabaseParts& database : parts.databases) {
        bytes += database.bytes.size();
        patterns += database.entries.size();
        for (const std::uint32_t entry : database.entries) {
            if (entry == TextDatabaseParts::kNoEntry) {
                continue;
            }
            if (entry >= parts.entries.size() || covered[entry] != 0 ||
                parts.entries[entry].field != database.field ||
                !is_scanned(parts.entries[entry].how)) {
                return false;
            }
            covered[entry] = 1;
        }
    }
    for (std::size_t i = 0; i < parts.entries.size(); ++i) {
        if (is_scanned(parts.entries[i].how) != (covered[i] != 0)) {
            return false;
        }
    }
    // No third one of a field.
    for (std::size_t i = 2; i < parts.databases.size(); ++i) {
        if (parts.databases[i].field == parts.databases[i - 2].field) {
            return false;
        }
    }
    return parts.databases.size() <= kMaxDatabases && bytes <= kMaxDatabaseSize &&
           patterns <= 2 * kMaxPatterns &&
           std::is_sorted(parts.databases.begin(), parts.databases.end(),
                          [](const auto& a, const auto& b) { return a.field < b.field; });
}

}  // namespace

std::uint64_t checksum_of(ByteView bytes) noexcept {
    std::uint64_t sum = 0xCBF2'9CE4'8422'2325;
    for (const std::byte byte : bytes) {
        sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
    }
    return sum;
}

bool are_sound(const TextParts& parts, std::size_t clauses) {
    return entries_hold(parts.entries) && tests_hold(parts) && terms_hold(parts, clauses) &&
           databases_hold(parts);
}

}  // namespace sluice
