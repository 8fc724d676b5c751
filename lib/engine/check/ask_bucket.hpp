#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/later_demand.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/engine/check/on_full.hpp"
#include "lib/engine/check/tcp_connection.hpp"

#include <variant>

namespace sluice {

[[nodiscard]] inline bool is_admitted(Conformance conformance) noexcept {
    return conformance == Conformance::Green || conformance == Conformance::Yellow;
}

// Calls use(look) for the look of the same limit in each earlier unit of the packet.
template <typename Use>
void for_each_earlier(const LimitCheck& check, const CheckContext& context, Use&& use) noexcept {
    for (std::uint32_t at = check.previous; at != 0; at = context.checks[at - 1].previous) {
        use(context.checks[at - 1]);
    }
}

// Charges that earlier units of the packet are about to make to the bucket at look.entry; of a
// question, what is reserved of its key.
[[nodiscard]] inline ChargedBefore charged_before(const LimitCheck& check,
                                                  const CheckContext& context) noexcept {
    ChargedBefore before =
        context.question != nullptr ? context.question->reserved : ChargedBefore{};
    for_each_earlier(check, context, [&](const LimitCheck& earlier) {
        if (!earlier.asked || earlier.entry != check.entry || earlier.counts_already()) {
            return;
        }
        if (earlier.conformance == Conformance::Green || earlier.reserved) {
            before.green = before.green + earlier.cost;
        } else if (earlier.conformance == Conformance::Yellow) {
            before.yellow = before.yellow + earlier.cost;
        }
    });
    return before;
}

// A parent has the one line that is kept for it. A log that finds no more goes on without: what it
// is charged is added to its newest record and lasts longer, never shorter.
[[nodiscard]] inline Conformance on_one_line(Conformance conformance, const LimitCheck& check,
                                             const CheckContext& context) noexcept {
    if (conformance == Conformance::NoRoom && check.entry->stamp().aggregation_level != 0)
        [[unlikely]] {
        count_event(context, TableEvent::PoolFull);
        return Conformance::Green;
    }
    return conformance;
}

// The connection that a packet may open, for limits that count those; nullptr: it is none of
// theirs.
[[nodiscard]] inline const ConnectionStart* start_of(const LimitCheck& check,
                                                     const CheckContext& context,
                                                     ConnectionStart& start) noexcept {
    if (!std::holds_alternative<ConcurrencyLimit>(*check.numbers) || check.cost == Units{0}) {
        return nullptr;
    }
    if (context.question != nullptr) {
        return context.question->connection.digest == 0 ? nullptr : &context.question->connection;
    }
    const PacketHeaders& headers = context.packet_headers();
    start = connection_start(connection_ends(headers, context.core.hash), headers, context.frame());
    return &start;
}

// The value that a unit shows, for limits of different ones; 0: nothing is known of it.
[[nodiscard]] inline std::uint32_t value_of(const LimitCheck& check) noexcept {
    return needs_value(*check.numbers) ? check.shown_value() : 0;
}

// A value that counts costs nothing more, nor does one that an earlier unit of the packet shows, or
// for which units are reserved.
[[gnu::noinline]] inline Conformance ask_value(LimitCheck& check,
                                               const CheckContext& context) noexcept {
    const auto& limit = std::get<DistinctLimit>(*check.numbers);
    LimitRegistry& registry = context.core.buckets.registry;
    Cell cell = registry.cell_of(*check.entry);
    const std::uint32_t value = value_of(check);
    check.value = value;
    bool counts = registry.pool().at<DistinctValues>(cell.rest).has(limit, registry.pool(),
                                                                    context.now.at, {value});
    counts = counts || (context.question != nullptr && context.question->reserves_value);
    Units others = context.question != nullptr ? context.question->reserved.all() : Units{0};
    for_each_earlier(check, context, [&](const LimitCheck& earlier) {
        const bool is_new = (earlier.value & LimitCheck::kCountsAlready) == 0;
        if (earlier.asked && earlier.entry == check.entry &&
            earlier.conformance == Conformance::Green && is_new) {
            others = others + earlier.cost;
            counts = counts || earlier.value == value;
        }
    });
    if (counts) {
        check.value |= LimitCheck::kCountsAlready;
        return Conformance::Green;
    }
    const Conformance conformance =
        sluice::check(cell, *check.numbers, registry.pool(), context.now,
                      {.cost = check.cost + others, .value = value});
    registry.write(*check.entry, cell, context.now);
    return on_one_line(conformance, check, context);
}

[[gnu::noinline]] inline Conformance ask_after_slow(const LimitCheck& check,
                                                    const CheckContext& context) noexcept {
    LimitRegistry& registry = context.core.buckets.registry;
    Cell cell = registry.cell_of(*check.entry);
    ConnectionStart start;
    const LaterDemand later{{check.cost, context.color(), start_of(check, context, start)},
                            charged_before(check, context)};
    const Conformance conformance =
        check_later(cell, *check.numbers, registry.pool(), context.now, later);
    registry.write(*check.entry, cell, context.now);
    return on_one_line(conformance, check, context);
}

// Checks whether check.cost conforms to check.numbers in the bucket at check.entry, after the
// charges of the packet's earlier units.
[[nodiscard]] inline Conformance ask_bucket(LimitCheck& check,
                                            const CheckContext& context) noexcept {
    if (needs_value(*check.numbers)) [[unlikely]] {
        return ask_value(check, context);
    }
    if (check.previous != 0 || context.question != nullptr) [[unlikely]] {
        return ask_after_slow(check, context);
    }
    LimitRegistry& registry = context.core.buckets.registry;
    Cell cell = registry.cell_of(*check.entry);
    if (const auto* token = std::get_if<TokenBucketLimit>(check.numbers)) [[likely]] {
        return admits(bucket_in(cell, token->gcra), token->gcra, context.now.at, check.cost)
                   ? Conformance::Green
                   : Conformance::Red;
    }
    ConnectionStart start;
    const Demand demand{check.cost, context.color(), start_of(check, context, start)};
    const Conformance conformance =
        sluice::check(cell, *check.numbers, registry.pool(), context.now, demand);
    registry.write(*check.entry, cell, context.now);
    return on_one_line(conformance, check, context);
}

}  // namespace sluice
