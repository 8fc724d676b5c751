#pragma once
#include "control/json.hpp"
#include "control/preview/judged_draft.hpp"
#include "control/preview/unknowns.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// A preview that is over.
struct EndedPreview {
    const DraftRules& draft;
    const PreviewLog& log;
    const std::optional<JudgedDraft>& judged;  // nullopt: there was nothing that could be
    PreviewFacts facts;
    std::int64_t from = 0;  // UTC, ns
};

// The amount that matches so far, in the draft's unit.
[[nodiscard]] std::uint64_t matched_of(const DraftRules& draft, const PreviewAmounts& counted);
// "requests"
[[nodiscard]] std::string_view unit_of(const DraftRules& draft);

// `result` of GET /v1/previews/ID.
[[nodiscard]] Json preview_answer(const EndedPreview& ended);

}  // namespace sluice
