#include "lib/engine/stage/preview_burst.hpp"

#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/burst/key_digests.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/units_of.hpp"

#include <bit>
#include <cstdint>

namespace sluice {
namespace {

// The draft of a preview over one burst.
class PreviewingBurst {
public:
    PreviewingBurst(Trace& trace, std::size_t worker, const TracedBurst& decided) noexcept
        : trace_{trace},
          worker_{worker},
          decided_{decided},
          tap_{*trace.preview_tap(worker)},
          rule_{trace.condition()->set().rules.front()},
          plan_{trace.condition()->set().meter_plan.rules.front()} {}

    // An amount that a packet has but once is counted with its own row, which stands for its first
    // unit too.
    void run() noexcept {
        Burst& burst = decided_.burst;
        RowMask come = 0;
        for_each_row(burst.live(), [&](std::size_t row) {
            const Decision& decision = burst.packets()[row].decision;
            const bool by_later = is_behind(decision) && !has_row(burst.scratch().banned, row);
            come |= comes_to_draft(decision, by_later) ? row_bit(row) : 0;
        });
        if (decided_.evaluated && burst.units() != nullptr) {
            for (Burst& further : burst.units()->further()) {
                const RowMask rows = burst.units()->rows_of(further, come);
                meet(further, matched(further, rows));
            }
        }
        const RowMask rows = matched(burst, burst.live());
        tap_.count_decided(static_cast<std::uint64_t>(std::popcount(rows & ~come)));
        meet(burst, rows & come);
    }

private:
    [[nodiscard]] RowMask matched(Burst& burst, RowMask rows) noexcept {
        rows &= burst.rows_with(plan_.judges);
        return rows == 0 ? 0 : rows_of_condition(trace_, worker_, burst, rows);
    }

    // True if a rule has decided that would stand behind the draft.
    [[nodiscard]] bool is_behind(const Decision& decision) const noexcept {
        return decision.rule != kNoRule && decision.rule >= decided_.behind;
    }

    // Packets that other rules decide before a rule at the draft's place never come to it. Those
    // that the rule decides which the draft is to replace do. Of what rules behind it decide
    // (`by_later`), all comes to a draft that decides on sight; to one with limits what they pass,
    // since what is refused spends nothing.
    [[nodiscard]] bool comes_to_draft(const Decision& decision, bool by_later) const noexcept {
        const bool is_replaced = decided_.rule != kNoRule && decision.rule == decided_.rule;
        const bool passes = forwards(decision.verdict);
        const bool is_passed_first =
            decision.reason == Reason::Bypass || decision.reason == Reason::AllowRule;
        return is_replaced || (passes && !is_passed_first) ||
               (by_later && (passes || rule_.on_match == OnMatch::Act));
    }

    [[nodiscard]] bool is_own(const Burst& burst) const noexcept {
        return &burst == &decided_.burst;
    }

    // Rows of units among `rows`, of the kinds that the draft counts.
    [[nodiscard]] RowMask unit_rows(const Burst& burst, RowMask rows) const noexcept {
        return plan_.counts.empty() ? 0 : rows & burst.rows_with(plan_.counts);
    }

    // All that the rows have, out of the columns.
    [[nodiscard]] PreviewAmounts amounts_of(const Burst& burst, RowMask rows) const noexcept {
        PreviewAmounts amounts{
            .units = static_cast<std::uint64_t>(std::popcount(unit_rows(burst, rows)))};
        if (is_own(burst)) {
            const HeaderColumns& headers = burst.headers();
            amounts.packets = static_cast<std::uint64_t>(std::popcount(rows));
            for_each_row(rows, [&](std::size_t row) { amounts.bytes += headers.byte_units[row]; });
            for_each_row(rows & headers.present_rows(Field::TcpFlags), [&](std::size_t row) {
                amounts.openings += opens_connection(headers.tcp_flags[row]) ? 1U : 0U;
            });
        }
        return amounts;
    }

    // The keys that are sampled are few, so that all rows are hashed as limits hash them, and only
    // the sampled ones looked at one by one.
    void meet(Burst& burst, RowMask rows) noexcept {
        if (rows == 0) {
            return;
        }
        tap_.count(amounts_of(burst, rows));
        if (rule_.keys.empty()) {
            return;  // it decides on all that it matches
        }
        RowDigests digests;
        const RowMask keyed =
            digest_keys(trace_.preview_key(), {burst.frames(), burst.headers(), rows},
                        trace_.preview_hash(), digests);
        if (const RowMask keyless = rows & ~keyed; keyless != 0) {
            tap_.count_keyless(static_cast<std::uint64_t>(std::popcount(keyless)));
        }
        for_each_row(rows & keyed, [&](std::size_t row) {
            if (const std::uint64_t digest = preview_digest(digests[row]); tap_.samples(digest))
                [[unlikely]] {
                show(burst, row, digest);
            }
        });
    }

    // A row whose first key has this digest.
    [[gnu::noinline]] void show(Burst& burst, std::size_t row, std::uint64_t digest) noexcept {
        const PacketHeaders& headers = burst.headers_of(row);
        PreviewDigests digests{digest};
        KeyBytes first;
        for (std::size_t i = 0; i < kPreviewedKeys && i < rule_.keys.size(); ++i) {
            KeyBytes further;
            KeyBytes& key = i == 0 ? first : further;
            const KeyOutcome outcome =
                key_of(rule_.keys[i], rule_.missing_key, headers, burst.frame(row).bytes, key);
            if (i != 0 && outcome != KeyOutcome::Missing) {
                digests[i] = preview_digest(trace_.preview_hash().digest(key.view()));
            }
        }
        tap_.show(digests, first.view(), amounts_of(burst, row_bit(row)), decided_.now);
    }

    Trace& trace_;
    std::size_t worker_;
    const TracedBurst& decided_;
    PreviewTap& tap_;
    const LoadedRule& rule_;
    const RulePlan& plan_;
};

}  // namespace

void preview_burst(Trace& trace, std::size_t worker, const TracedBurst& decided) noexcept {
    trace.preview_tap(worker)->tend(decided.now.at);
    if (decided.burst.size() != 0) {
        PreviewingBurst{trace, worker, decided}.run();
    }
}

}  // namespace sluice
