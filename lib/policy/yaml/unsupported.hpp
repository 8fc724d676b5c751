#pragma once
#include "lib/policy/yaml/map_reader.hpp"

#include <string_view>

namespace sluice {

// Looks into a part of either file that is not built yet, so that a slip inside it is found today:
// unknown keys, wrong words, a list where a map belongs. Parts without a row in the table are taken
// as they are. Building a part takes its row out.
void check_unsupported(std::string_view key, const YamlNode& value, const ReadContext& context);

}  // namespace sluice
