#include "lib/policy/rules/ttl_reader.hpp"

#include "lib/policy/values/units_text.hpp"

#include <chrono>

namespace sluice {

std::optional<Nanoseconds> read_ttl(const MapReader& map, const ReadContext& context) {
    constexpr Nanoseconds kShortest = std::chrono::seconds{1};
    const YamlNode* value = map.find("ttl");
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Nanoseconds> ttl = parse_duration(value->is_scalar() ? value->text : "");
    if (ttl && *ttl >= kShortest) {
        return *ttl;
    }
    context.problems.error(
        value->at, "`ttl` is a duration from 1s on, such as 15m or 1d; found " + kind_name(*value));
    return std::nullopt;
}

}  // namespace sluice
