#include "lib/policy/limits/cost_reader.hpp"

#include "lib/bucket/meter/any_limit.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/limits/limit_builder.hpp"
#include "lib/policy/texts/text_form.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

struct Meaningless {
    std::string_view key;
    bool is_given;
    std::string_view why;
};

// Limits of things each of which counts once, however often it comes, and why.
struct CountsOnce {
    Algorithm algorithm;
    std::string_view name;
    std::string_view cost;
    std::string_view rejected;
};
constexpr auto kCountOnce = std::to_array<CountsOnce>({
    {Algorithm::Concurrency, "concurrency", "each connection counts once",
     "a connection that is refused is not open"},
    {Algorithm::Distinct, "distinct", "each value counts once",
     "a value that is refused does not count"},
});

// Reports keys that mean nothing beside such a limit.
void check_those_that_count_once(const MapReader& map, const Rule& rule,
                                 const ReadContext& context) {
    for (const CountsOnce& one : kCountOnce) {
        const auto is_one = [&](const MeteredLimit& limit) {
            return algorithm_of(limit.limit) == one.algorithm;
        };
        if (std::none_of(rule.limits.begin(), rule.limits.end(), is_one)) {
            continue;
        }
        const auto table = std::to_array<Meaningless>({
            {"cost", rule.cost != 1 || !rule.path_costs.empty(), one.cost},
            {"rejected_spend", rule.rejected_spend, one.rejected},
        });
        for (const Meaningless& row : table) {
            if (row.is_given) {
                context.problems.error(map.place_of_key(row.key),
                                       "`" + std::string{row.key} + "` has no meaning beside a " +
                                           std::string{one.name} +
                                           " limit: " + std::string{row.why});
            }
        }
    }
}

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

// The fault of a prefix; empty: none.
std::string fault_of(std::string_view prefix) {
    if (!prefix.starts_with('/')) {
        return "a path begins with a slash, such as /v1/export";
    }
    if (prefix.size() > kMaxPathPrefix) {
        return "the beginning of a path has at most " + std::to_string(kMaxPathPrefix) + " bytes";
    }
    if (prefix.find_first_of("?#") != std::string_view::npos) {
        return "a path ends before ? and #";
    }
    const std::string form = normal_path(prefix);
    if (form != prefix) {
        return "no path begins so in its normal form; write \"" + form + "\"";
    }
    return is_path_prefix(prefix)
               ? ""
               : "whole segments are compared, so that no slash stands at the end; write \"" +
                     std::string{prefix.substr(0, prefix.size() - 1)} + "\"";
}

void read_path(const YamlEntry& entry, const MapReader& paths, std::vector<PathCost>& costs,
               const ReadContext& context) {
    const std::string fault = fault_of(entry.key.text);
    if (!fault.empty()) {
        context.problems.error(entry.key.at, fault);
        return;
    }
    if (const std::optional<std::uint32_t> cost = read_number(paths, entry.key.text, context)) {
        costs.push_back({entry.key.text, *cost});
    }
}

std::vector<PathCost> read_paths(const YamlNode& node, const ReadContext& context) {
    std::vector<PathCost> costs;
    if (!node.is_map() || node.entries.empty() || node.entries.size() > kMaxPathCosts) {
        context.problems.error(node.at,
                               "`path` is a map from paths to costs, such as {\"/v1/export\": "
                               "25}, of at most " +
                                   std::to_string(kMaxPathCosts) + ", found " + kind_name(node));
        return costs;
    }
    std::vector<KeyRow> known;
    for (const YamlEntry& entry : node.entries) {
        known.push_back({entry.key.text});
    }
    const MapReader paths{node, known, context, "`path`"};
    for (const YamlEntry& entry : node.entries) {
        read_path(entry, paths, costs, context);
    }
    std::sort(costs.begin(), costs.end(),
              [](const PathCost& a, const PathCost& b) { return a.prefix < b.prefix; });
    return costs;
}

// Warns of what the limits never hold at such a cost.
void warn_of(Position at, std::uint32_t cost, const Rule& rule, const ReadContext& context) {
    for (const MeteredLimit& limit : rule.limits) {
        const std::uint64_t most = std::visit(MostAtOnce{}, limit.limit);
        // A burst below one full-sized packet is warned of where it stands.
        const bool of_bytes = limit.per == Per::Byte && most >= kLargestUsualPacket;
        const std::uint64_t least = of_bytes ? kLargestUsualPacket : 1;
        if (cost != 1 && least * cost > most) {
            context.problems.warning(
                at, "the limit `" + limit.name + "` holds " + std::to_string(most) + ": " +
                        (of_bytes ? "a full-sized packet at this cost never fits"
                                  : "this cost never fits"));
        }
    }
}

// Paths are those of requests.
void check_by_path(const YamlNode& cost, const Rule& rule, const ReadContext& context) {
    for (const MeteredLimit& limit : rule.limits) {
        if (limit.per != Per::Request) {
            context.problems.error(value_of(cost, "path")->at,
                                   "requests alone have a path, and the limit `" + limit.name +
                                       "` counts other things; it needs per: request");
            return;
        }
    }
    for (const YamlEntry& entry : value_of(cost, "path")->entries) {
        const auto read =
            std::find_if(rule.path_costs.begin(), rule.path_costs.end(),
                         [&](const PathCost& one) { return one.prefix == entry.key.text; });
        if (read != rule.path_costs.end()) {
            warn_of(entry.value.at, read->cost, rule, context);
        }
    }
    if (const YamlNode* otherwise = value_of(cost, "default")) {
        warn_of(otherwise->at, rule.cost, rule, context);
    }
}

}  // namespace

ReadCost read_cost(const MapReader& rule, const ReadContext& context) {
    const YamlNode* cost = rule.find("cost");
    if (cost == nullptr || !cost->is_map()) {
        return {read_number(rule, "cost", context).value_or(1), {}};
    }
    const MapReader by_path{*cost, rule_keys::kCostByPath, context, "`cost`"};
    ReadCost read{read_number(by_path, "default", context).value_or(1), {}};
    if (const YamlNode* paths = by_path.find("path")) {
        read.by_path = read_paths(*paths, context);
    }
    return read;
}

void check_costs(const MapReader& map, const Rule& rule, const ReadContext& context) {
    const YamlNode* cost = map.find("cost");
    if (!rule.path_costs.empty()) {
        check_by_path(*cost, rule, context);
    } else if (cost != nullptr) {
        warn_of(cost->at, rule.cost, rule, context);
    }
    check_those_that_count_once(map, rule, context);
}

std::string text_of_cost(const RuleTerms& rule) {
    std::string text;
    for (const PathCost& by_path : rule.path_costs) {
        text += by_path.prefix + " " + std::to_string(by_path.cost) + ", ";
    }
    return text + (text.empty() ? "" : "others ") + std::to_string(rule.cost);
}

}  // namespace sluice
