#include "lib/engine/decide/decide_fast.hpp"
#include "lib/packet/row_sum.hpp"

#include <bit>

// Counters and decisions of the packets that the fast path has decided.
namespace sluice {
namespace {

constexpr Decision kWithinLimits{.reason = Reason::WithinLimits};
constexpr Decision kUnmatched{};

}  // namespace

void FastPath::write_admitted() noexcept {
    Packet* const packets = burst_.packets().data();
    const auto write = [&](RowMask rows, const Decision& decision) {
        for_each_row(rows, [&](std::size_t row) { packets[row].decision = decision; });
    };
    write(admitted_ & scratch_.evaluated, kWithinLimits);
    write(admitted_ & ~scratch_.evaluated, kUnmatched);
}

void FastPath::count_coarsened(std::uint64_t coarsened) noexcept {
    for (; coarsened != 0; coarsened &= coarsened - 1) {
        coarser_.count(scratch_.coarser[static_cast<std::size_t>(std::countr_zero(coarsened))]);
    }
}

void FastPath::finish() noexcept {
    write_admitted();
    const RowMask done = admitted_ | otherwise_;
    const auto count = [](RowMask rows) { return static_cast<std::uint64_t>(std::popcount(rows)); };
    const auto bytes = [&](RowMask rows) { return sum_of_rows(rows, burst_.frames().wire); };
    for (const ActiveRule& active : std::span{scratch_.rules.get(), scratch_.rule_count}) {
        const RowMask rows = active.rows & done;
        if (rows == 0) {
            continue;
        }
        RuleCounters& counters = core_.counters.rules[set_.meter_plan.rules[active.rule].counters];
        const RowMask skipped = active.skipped | (active.idle & ~active.refused);
        const RowMask admitted = rows & ~(skipped | active.refused);
        counters.admitted.add(count(admitted));
        counters.admitted_bytes.add(bytes(admitted));
        if ((active.refused | skipped | active.exempt) != 0) [[unlikely]] {
            counters.exceeded.add(count(rows & active.refused));
            counters.exceeded_bytes.add(bytes(rows & active.refused));
            counters.skipped.add(count(rows & skipped));
            counters.exempted.add(count(active.exempt));
        }
    }
}

}  // namespace sluice
