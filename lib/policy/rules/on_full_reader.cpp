#include "lib/policy/rules/on_full_reader.hpp"

#include "lib/policy/file_keys/rule_keys.hpp"

#include <array>
#include <string_view>

namespace sluice {
namespace {

constexpr auto kOnFullWords = std::to_array<std::string_view>({"open", "closed"});

std::optional<WhenFull> read_coarsen(const YamlNode& node, const ReadContext& context) {
    const MapReader map{node, rule_keys::kOnFull, context, "on_full"};
    const YamlNode* coarsen = map.find("coarsen");
    if (coarsen == nullptr || !coarsen->is_map()) {
        context.problems.error(node.at, "`on_full` is open, closed or {coarsen: {factor: N}}");
        return std::nullopt;
    }
    const MapReader inner{*coarsen, rule_keys::kCoarsen, context, "coarsen"};
    const std::uint64_t factor = inner.number("factor", kMaxCoarsenFactor).value_or(16);
    if (factor < 2) {
        context.problems.error(inner.find("factor")->at,
                               "`factor` is from 2 to " + std::to_string(kMaxCoarsenFactor));
        return std::nullopt;
    }
    return WhenFull{OnFull::Coarsen, static_cast<std::uint32_t>(factor)};
}

}  // namespace

std::optional<WhenFull> read_on_full(const MapReader& map, const ReadContext& context) {
    const YamlNode* value = map.find("on_full");
    if (value != nullptr && value->is_map()) {
        return read_coarsen(*value, context);
    }
    const std::optional<std::size_t> index = map.word("on_full", kOnFullWords);
    if (!index) {
        return std::nullopt;
    }
    return WhenFull{*index == 0 ? OnFull::Open : OnFull::Closed, 16};
}

std::string text_of(const WhenFull& full) {
    return full.on_full == OnFull::Coarsen
               ? "coarsen by " + std::to_string(full.factor)
               : std::string{kOnFullWords[static_cast<std::size_t>(full.on_full)]};
}

}  // namespace sluice
