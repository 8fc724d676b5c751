#pragma once
#include "lib/policy/limits/parameter.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>
#include <string_view>

namespace sluice {

// Reads the parameters of one limit from its map; errors are reported at the value.
class ParameterReader {
public:
    // `owner` is the algorithm, for messages: "a token_bucket needs `rate`".
    ParameterReader(const MapReader& map, Per per, const ReadContext& context,
                    std::string_view owner) noexcept
        : map_{map}, context_{context}, owner_{owner}, per_{per} {}

    // The value; of an optional parameter that is absent or wrong its default. nullopt: a required
    // one is absent or wrong (reported).
    [[nodiscard]] std::optional<ParameterValue> read(const Parameter& parameter) const;

private:
    [[nodiscard]] std::optional<ParameterValue> read_present(const Parameter& parameter,
                                                             const YamlNode& node) const;

    const MapReader& map_;
    const ReadContext& context_;
    std::string_view owner_;
    Per per_;
};

}  // namespace sluice
