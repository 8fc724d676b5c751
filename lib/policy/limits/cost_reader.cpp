#include "lib/policy/limits/cost_reader.hpp"

#include "lib/meter/any_limit.hpp"
#include "lib/policy/limits/limit_builder.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {
namespace {

constexpr auto kByPathKeys = std::to_array<KeyRow>({{"path"}, {"default"}});

// nullopt: absent or wrong (reported).
std::optional<std::uint32_t> read_number(const MapReader& map, std::string_view key,
                                         const ReadContext& context) {
    const std::optional<std::uint64_t> number = map.number(key, kMaxCost);
    if (number == 0U) {
        context.problems.error(map.find(key)->at, "`" + std::string{key} + "` is at least 1");
        return std::nullopt;
    }
    return number ? std::optional{static_cast<std::uint32_t>(*number)} : std::nullopt;
}

// The largest cost that a limit ever admits.
struct MostAtOnce {
    std::uint64_t operator()(const TokenBucketLimit& limit) const { return limit.gcra.burst(); }
    std::uint64_t operator()(const LeakyBucketLimit& limit) const { return limit.gcra.burst(); }
    std::uint64_t operator()(const ColorLimit& limit) const {
        // RFC 2698 takes everything out of the peak bucket; the others have either.
        const std::uint64_t second = limit.second().burst();
        return limit.variant() == ColorVariant::Rfc2698 ? second
                                                        : std::max(limit.first().burst(), second);
    }
    std::uint64_t operator()(const PenaltyLimit& limit) const { return limit.after; }
    std::uint64_t operator()(const auto& window) const { return window.numbers.count; }
};

}  // namespace

std::uint32_t read_cost(const MapReader& rule, const ReadContext& context) {
    const YamlNode* cost = rule.find("cost");
    if (cost == nullptr || !cost->is_map()) {
        return read_number(rule, "cost", context).value_or(1);
    }
    context.not_enforced(rule.place_of_key("cost"), "`cost` by path");
    const MapReader by_path{*cost, kByPathKeys, context, "`cost`"};
    return read_number(by_path, "default", context).value_or(1);
}

void warn_of_costs_that_never_fit(const MapReader& map, const Rule& rule,
                                  const ReadContext& context) {
    if (rule.cost == 1) {
        return;
    }
    for (const MeteredLimit& limit : rule.limits) {
        const std::uint64_t most = std::visit(MostAtOnce{}, limit.limit);
        // A burst below one full-sized packet is warned of where it stands.
        const bool of_bytes = limit.per == Per::Byte && most >= kLargestUsualPacket;
        const std::uint64_t least = of_bytes ? kLargestUsualPacket : 1;
        if (least * rule.cost > most) {
            context.problems.warning(map.find("cost")->at,
                                     "the limit `" + limit.name + "` holds " +
                                         std::to_string(most) + ": " +
                                         (of_bytes ? "a full-sized packet at this cost never fits"
                                                   : "this cost never fits"));
        }
    }
}

}  // namespace sluice
