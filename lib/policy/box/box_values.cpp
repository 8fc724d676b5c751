#include "lib/policy/box/box_values.hpp"

#include "lib/policy/values/units_text.hpp"

namespace sluice {
namespace {

std::string range_text(const ConfigRange<std::uint64_t>& range) {
    return "from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

}  // namespace

std::optional<std::uint64_t> amount_of(const MapReader& map, std::string_view key,
                                       const ConfigRange<std::uint64_t>& range,
                                       const ReadContext& context) {
    const YamlNode* value = map.find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const Result<Units> amount = parse_count(value->is_scalar() ? value->text : "");
    if (!amount || !range.holds(amount->count())) {
        context.problems.error(value->at, "`" + std::string{key} +
                                              "` is a number such as 4096, 256k or 4M, " +
                                              range_text(range) + "; found " + kind_name(*value));
        return std::nullopt;
    }
    return amount->count();
}

void read_bytes(const MapReader& map, std::string_view key, const ConfigRange<std::uint64_t>& range,
                const ReadContext& context, std::uint64_t& into) {
    const YamlNode* value = map.find(key);
    if (value == nullptr) {
        return;
    }
    const Result<Units> bytes = parse_size(value->is_scalar() ? value->text : "");
    if (!bytes || !range.holds(bytes->count())) {
        context.problems.error(value->at,
                               "`" + std::string{key} + "` is an amount such as 16KiB or 8000B, " +
                                   range_text(range) + " bytes; found " + kind_name(*value));
        return;
    }
    into = bytes->count();
}

void read_time(const MapReader& map, std::string_view key, const TimeRange& range,
               const ReadContext& context, Nanoseconds& into) {
    const YamlNode* value = map.find(key);
    if (value == nullptr) {
        return;
    }
    const Result<Nanoseconds> time = parse_duration(value->is_scalar() ? value->text : "");
    if (!time || !range.range.holds(*time)) {
        context.problems.error(
            value->at, "`" + std::string{key} + "` is a duration " + std::string{range.text});
        return;
    }
    into = *time;
}

void read_text(const MapReader& map, std::string_view key, std::string& into) {
    into = map.text(key).value_or(into);
}

}  // namespace sluice
