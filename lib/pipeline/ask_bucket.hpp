#pragma once
#include "lib/meter/any_meter.hpp"
#include "lib/meter/bucket_in.hpp"
#include "lib/meter/gcra.hpp"
#include "lib/pipeline/check_limit.hpp"

#include <variant>

namespace sluice {

[[nodiscard]] inline bool is_admitted(Conformance conformance) noexcept {
    return conformance == Conformance::Green || conformance == Conformance::Yellow;
}

// What the bucket at look.entry says of look.cost, under look.numbers.
[[nodiscard]] inline Conformance ask_bucket(const LimitCheck& check,
                                            const CheckContext& context) noexcept {
    LimitRegistry& registry = context.core.buckets.registry;
    Cell cell = registry.cell_of(*check.entry);
    if (const auto* token = std::get_if<TokenBucketLimit>(check.numbers)) [[likely]] {
        return admits(bucket_in(cell, token->gcra), token->gcra, context.now.at, check.cost)
                   ? Conformance::Green
                   : Conformance::Red;
    }
    const Demand demand{check.cost, context.color()};
    const Conformance conformance =
        sluice::check(cell, *check.numbers, registry.pool(), context.now, demand);
    registry.write(*check.entry, cell, context.now);
    return conformance;
}

}  // namespace sluice
