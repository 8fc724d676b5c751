#include "lib/policy/limits/limit_reader.hpp"

#include "lib/policy/keys/key_reader.hpp"
#include "lib/policy/limits/limit_algorithms.hpp"
#include "lib/policy/limits/parameter_reader.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <array>

namespace sluice {
namespace {

constexpr auto kPerWords = std::to_array<std::string_view>(
    {"packet", "byte", "connection", "request", "query", "handshake"});

// The algorithm a limit names; nullptr (reported) if it names none.
const LimitAlgorithm* find_algorithm(const YamlNode& limit, const ReadContext& context) {
    std::vector<std::string_view> names;
    const YamlNode* named = value_of(limit, "algorithm");
    for (const LimitAlgorithm& row : limit_algorithms()) {
        if (named != nullptr && named->is_scalar() && row.name == named->text) {
            return &row;
        }
        names.push_back(row.name);
    }
    if (named == nullptr) {
        context.problems.error(limit.at, "a limit needs `algorithm` (" + list_of(names) + ")");
    } else {
        context.problems.error(named->at, "`algorithm` is one of " + list_of(names) + "; found " +
                                              kind_name(*named) + did_you_mean(named->text, names));
    }
    return nullptr;
}

std::vector<KeyRow> known_keys(const LimitAlgorithm& algorithm) {
    std::vector<KeyRow> keys{{"algorithm"}, {"per"}, {"scope"}, {"owner_down"}};
    for (const Parameter& parameter : algorithm.parameters) {
        keys.push_back({parameter.name});
    }
    return keys;
}

// The good parameters. Without its `variant` it is open what a limit's parameters mean.
ParameterValues read_parameters(const LimitAlgorithm& algorithm, const MapReader& map, Per per,
                                const ReadContext& context) {
    const ParameterReader reader{map, per, context, algorithm.name};
    ParameterValues values;
    for (const Parameter& parameter : algorithm.parameters) {
        if (!has_meaning(parameter, values)) {
            if (map.find(parameter.name) != nullptr) {
                context.problems.error(map.place_of_key(parameter.name),
                                       "`" + std::string{parameter.name} +
                                           "` has no meaning with variant " +
                                           values.at("variant").text);
            }
            continue;
        }
        if (std::optional<ParameterValue> value = reader.read(parameter)) {
            values[parameter.name] = *std::move(value);
        } else if (parameter.name == "variant") {
            break;
        }
    }
    return values;
}

BuiltLimit build(const LimitAlgorithm& algorithm, const MapReader& map, Per per,
                 const ReadContext& context) {
    const ParameterValues values = read_parameters(algorithm, map, per, context);
    BuiltLimit built = build_limit(algorithm, values, per);
    for (const LimitFault& fault : built.faults) {
        const YamlNode* value = map.find(fault.parameter);
        const Position at = value == nullptr ? map.node().at : value->at;
        context.complain(at, fault.error.what, fault.severity == Severity::Error);
    }
    return built;
}

// The field whose different values the limit counts. Without it there is no limit.
void read_field(const LimitAlgorithm& algorithm, const MapReader& map, LimitText& limit,
                const ReadContext& context) {
    const Parameter* field = algorithm.field();
    const YamlNode* node = field == nullptr ? nullptr : map.find(field->name);
    if (node == nullptr || !node->is_scalar()) {
        return;
    }
    KeyText value = read_value(*node, context);
    limit.schema.push_back({field->name, value.schema});
    limit.of = std::move(value.parts);
    if (!value.whole) {
        limit.numbers.reset();
    }
    if (limit.per == Per::Byte) {
        const YamlNode* per = map.find("per");
        context.problems.error((per != nullptr ? per : map.find("algorithm"))->at,
                               "a " + std::string{algorithm.name} +
                                   " limit counts different values: its `per` says what shows "
                                   "them, such as packet, and bytes do not");
    }
}

}  // namespace

std::optional<Per> read_per(const MapReader& map) {
    const std::optional<std::size_t> index = map.word("per", kPerWords);
    return index ? std::optional{static_cast<Per>(*index)} : std::nullopt;
}

std::string_view name_of(Per per) noexcept {
    return kPerWords[static_cast<std::size_t>(per)];
}

LimitText read_limit(const YamlNode& node, std::optional<Per> rule_per,
                     const ReadContext& context) {
    LimitText limit;
    if (!node.is_map()) {
        context.problems.error(node.at, "a limit must be a map, found " + kind_name(node));
        return limit;
    }
    const LimitAlgorithm* algorithm = find_algorithm(node, context);
    if (algorithm == nullptr) {
        return limit;
    }
    const std::string name{algorithm->name};
    const MapReader map{node, known_keys(*algorithm), context, "a " + name};
    limit.text = name;
    limit.schema = {{"algorithm", name}};
    limit.per = read_per(map).value_or(rule_per.value_or(algorithm->usual_per));
    if (algorithm->per_is_fixed && limit.per != algorithm->usual_per) {
        const YamlNode* per = map.find("per");
        context.problems.error((per != nullptr ? per : map.find("algorithm"))->at,
                               "a " + name + " limit counts open connections: its `per` is " +
                                   std::string{name_of(algorithm->usual_per)} + ", not " +
                                   std::string{name_of(limit.per)});
    }
    BuiltLimit built = build(*algorithm, map, limit.per, context);
    limit.text += " " + built.text;
    limit.bound = std::move(built.bound);
    limit.promise = built.promise;
    limit.schema.insert(limit.schema.end(), built.schema.begin(), built.schema.end());
    limit.numbers = built.numbers;
    read_field(*algorithm, map, limit, context);
    limit.scope = read_scope(map);
    return limit;
}

}  // namespace sluice
