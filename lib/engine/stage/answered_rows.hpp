#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/decide/decide_fast.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>

// Packets of a connection that the box has answered go to nobody: no rule matches them, nothing is
// charged for them. A burst is matched before the one ahead of it has been answered, so they are
// looked for twice, and behind each packet that is about to be answered.
namespace sluice {

// True if any of these rows may be of such a connection: none that has no TCP is.
[[nodiscard]] inline bool may_have_answered(const Burst& burst, RowMask rows, const CoreState& core,
                                            Instant now) noexcept {
    return core.answered != nullptr &&
           (rows & burst.headers().present_rows(HeaderPart::Tcp)) != 0 &&
           core.answered->may_have_any(now);
}

// The rows of connections that have been answered. They are decided from then on.
[[nodiscard]] RowMask decide_answered(Burst& burst, RowMask rows, const CoreState& core,
                                      Instant now) noexcept;

// The same of connections that have been answered since the burst was matched.
inline void decide_answered_since(Burst& burst, const CoreState& core, Instant now) noexcept {
    const RowMask rows = burst.headers().well_formed() & burst.live();
    if (may_have_answered(burst, rows, core, now) &&
        core.answered->begun() != burst.scratch().answered_before) [[unlikely]] {
        burst.scratch().decided |= decide_answered(burst, rows, core, now);
    }
}

// The rows that have been decided, with an answer: those of rules with on_match.
[[nodiscard]] RowMask rows_answered_on_sight(const Burst& burst, const LoadedSet& set) noexcept;

// Rows of connections that an earlier packet of their burst is the last one of, since its client is
// about to be answered (lib/respond/act).
class RowsBehindAnswers {
public:
    RowsBehindAnswers(Burst& burst, const LoadedSet& set, const CoreState& core,
                      Instant now) noexcept
        : burst_{burst}, set_{set}, core_{core}, now_{now}, looks_{may_be_any(set, core)} {}

    [[nodiscard]] static bool may_be_any(const LoadedSet& set, const CoreState& core) noexcept {
        return set.meter_plan.answers && core.answered != nullptr;
    }
    // True of a row that has been decided.
    [[nodiscard]] bool has(std::size_t row) const noexcept { return has_row(rows_, row); }
    // Behind a row that has just been decided; those that are found are decided from then on.
    void look(std::size_t row, FastPath& fast) noexcept {
        if (looks_ && has_row(burst_.live() & ~fast.admitted(), row) &&
            answers(burst_.decision(row).verdict)) [[unlikely]] {
            take(find(row), fast);
        }
    }

private:
    [[nodiscard]] RowMask find(std::size_t row) const noexcept;
    void take(RowMask rows, FastPath& fast) noexcept;

    Burst& burst_;
    const LoadedSet& set_;
    const CoreState& core_;
    Instant now_;
    bool looks_;
    RowMask rows_ = 0;
};

}  // namespace sluice
