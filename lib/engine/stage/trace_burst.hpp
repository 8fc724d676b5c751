#pragma once
#include "lib/base/now.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/watch/trace/trace.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// A burst that a worker has decided and is about to send. `rule`: index of the trace's rule in
// `set`; kNoRule: there is none. `behind`: likewise of the first rule behind a draft. `evaluated`:
// by rules, and not forwarded or dropped unread.
struct TracedBurst {
    Burst& burst;
    const LoadedSet& set;
    std::uint32_t rule = kNoRule;
    std::uint32_t behind = kNoRule;
    bool evaluated = true;
    Now now;
};

// Records the packets that the trace is about, as far as the worker's end of it has room.
void trace_burst(Trace& trace, std::size_t worker, const TracedBurst& decided) noexcept;

// The rows among `rows` of a burst that the trace's condition matches. Fields that the rules in
// force did not read of them are absent.
[[nodiscard]] RowMask rows_of_condition(Trace& trace, std::size_t worker, Burst& burst,
                                        RowMask rows) noexcept;

// Before a burst is decided, whose rules have matched: true if trace_burst() may find something to
// record of it, and has room for that.
[[nodiscard]] bool may_trace(Trace& trace, std::size_t worker, Burst& burst, std::uint32_t rule,
                             Instant now) noexcept;

}  // namespace sluice
