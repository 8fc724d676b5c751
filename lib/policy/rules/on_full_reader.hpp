#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// The fate of a new key in a full table.
struct WhenFull {
    OnFull on_full = OnFull::Coarsen;
    std::uint32_t factor = 16;
};

// `on_full` of a rule or of the file's defaults; nullopt: it is not given, or not as it should be.
[[nodiscard]] std::optional<WhenFull> read_on_full(const MapReader& map,
                                                   const ReadContext& context);

// The setting as people read it: "open", "coarsen by 16".
[[nodiscard]] std::string text_of(const WhenFull& full);

}  // namespace sluice
