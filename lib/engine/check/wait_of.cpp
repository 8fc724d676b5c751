#include "lib/engine/check/wait_of.hpp"

#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/later_demand.hpp"
#include "lib/bucket/meter/lifetime.hpp"
#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/check/gauge_check.hpp"

#include <algorithm>
#include <variant>

namespace sluice {

std::optional<Nanoseconds> wait_of(const LimitCheck& check, const CheckContext& context) noexcept {
    ChargedBefore before = charged_before(check, context);
    if (algorithm_of(*check.numbers) != Algorithm::ColorMeter) {
        for_each_earlier(check, context, [&](const LimitCheck& earlier) {
            const bool refused = earlier.asked && earlier.conformance == Conformance::Red;
            const bool counts = refused && !earlier.reserved && earlier.entry == check.entry;
            before.green = before.green + (counts ? earlier.cost : Units{0});
        });
    }
    const LimitRegistry& registry = context.core.buckets.registry;
    const Units beside = beside_box(check, context);
    before.green = before.green + beside;
    const LaterDemand later{{check.cost, context.color()}, before};
    const std::optional<Nanoseconds> wait = wait_later(
        registry.cell_of(*check.entry), *check.numbers, registry.pool(), context.now, later);
    // Other boxes may have all of it: their connections leave as those here do.
    return wait || beside == Units{0} ? wait : longest_debt(*check.numbers);
}

namespace {

// By what the limit has left.
std::optional<Nanoseconds> own_delay_of(const LimitCheck& check,
                                        const CheckContext& context) noexcept {
    const bool admitted = is_admitted(check.conformance);
    const bool has_bucket = !check.at_owner && check.entry != nullptr;
    if (has_bucket && std::holds_alternative<LeakyBucketLimit>(*check.numbers)) {
        const Limit& gcra = std::get<LeakyBucketLimit>(*check.numbers).gcra;
        const Gcra bucket = bucket_in(context.core.buckets.registry.cell_of(*check.entry), gcra);
        const Nanoseconds until = departure(bucket, context.now.at) - context.now.at;
        return admitted ? std::optional{until} : std::nullopt;
    }
    if (admitted) {
        return Nanoseconds{0};
    }
    return has_bucket && check.conformance == Conformance::Red ? wait_of(check, context)
                                                               : std::nullopt;
}

}  // namespace

std::optional<Nanoseconds> delay_of(const LimitCheck& check, const CheckContext& context) noexcept {
    const std::optional<Nanoseconds> own = own_delay_of(check, context);
    if (!own || check.entry == nullptr) {
        return own;
    }
    const Instant now = context.now.at;
    return std::max(*own, context.core.held_order.not_before(held_id(check.key), now) - now);
}

}  // namespace sluice
