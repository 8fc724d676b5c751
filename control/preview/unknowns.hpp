#pragma once
#include "control/json.hpp"
#include "control/preview/draft_rules.hpp"
#include "control/preview/preview_log.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Circumstances of a preview, which are no matter of its packets.
struct PreviewFacts {
    std::vector<std::string> unread_fields;  // that the draft reads and no rule in force does
    bool rules_changed = false;              // while it was under way
    bool was_judged = true;                  // false: it was more than there is time or room for
    std::uint64_t table_full = 0;            // as in JudgedDraft
    double seconds = 0;                      // that it lasted
    double seconds_asked = 0;
};

// Facts that an answer of a preview cannot know: [{"code":…,"text":…}], each a sentence.
[[nodiscard]] Json unknowns_json(const DraftRules& draft, const PreviewLog& log,
                                 const PreviewFacts& facts);

}  // namespace sluice
