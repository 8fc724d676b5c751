#pragma once
#include "lib/engine/burst/limit_check.hpp"
#include "lib/engine/check/check_limit.hpp"

// The outcome of a check that found no place for its bucket.
namespace sluice {

inline void count_event(const CheckContext& context, TableEvent event) noexcept {
    if (context.ask.is_dry_run()) [[unlikely]] {
        return;
    }
    context.core.counters.by_table_event[static_cast<std::size_t>(event)].add(1);
}

// Open or closed, as the rule's on_full says, and counted. A rule that coarsens is closed when no
// wider key has a place either.
[[nodiscard]] inline Conformance without_place(const LoadedRule& rule,
                                               const CheckContext& context) noexcept {
    const bool open = rule.on_full == OnFull::Open;
    count_event(context, open ? TableEvent::Open : TableEvent::Closed);
    return open ? Conformance::Green : Conformance::NoRoom;
}

}  // namespace sluice
