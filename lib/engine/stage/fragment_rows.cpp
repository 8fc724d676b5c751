#include "lib/engine/stage/fragment_rows.hpp"

#include "lib/engine/burst/packet.hpp"

#include <optional>

namespace sluice {
namespace {

FragmentSource fragment_of(const Burst& burst, std::size_t row, const CoreState& core,
                           Now now) noexcept {
    return {.headers = burst.headers_of(row),
            .frame = burst.frame(row),
            .hash = core.hash,
            .now = now.at,
            .counters = core.counters.by_unit_event};
}

}  // namespace

void remember_fragments(Burst& burst, RowMask rows, const CoreState& core, Now now) noexcept {
    RowMask& first = burst.scratch().first_fragments;
    for_each_row(first & rows, [&](std::size_t row) {
        core.fragments.remember(core.fragments.memory, fragment_of(burst, row, core, now),
                                forwards(burst.packets()[row].decision.verdict));
    });
    first &= ~rows;
}

bool refuse_fragment(BurstRow at, FastPath& fast, const CoreState& core, Now now) noexcept {
    Burst& burst = *at.burst;
    const std::size_t row = at.row;
    fast.write_admitted();
    remember_fragments(burst, burst.live() & first_rows(row), core, now);
    const std::optional<Reason> reason =
        core.fragments.refuse(core.fragments.memory, fragment_of(burst, row, core, now));
    if (reason) {
        burst.packets()[row].decision = dropped_for(*reason);
    }
    return reason.has_value();
}

}  // namespace sluice
