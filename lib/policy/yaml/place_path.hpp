#pragma once
#include "lib/policy/yaml/yaml_tree.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// The way from the root of a tree to what stands at a place: "rules[0].limits[0].rate". Of a place
// inside a value, the value's; of one where a map begins, the map's. Empty: nothing stands before
// it but the root.
[[nodiscard]] std::string path_to(const YamlNode& root, Position at);

// How many bytes of its line the word takes that begins at a place: a name, a number, or a text in
// quotes with these. 0: none does.
[[nodiscard]] std::uint32_t word_length(const LineIndex& lines, Position at);

}  // namespace sluice
