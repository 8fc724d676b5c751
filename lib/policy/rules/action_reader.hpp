#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <string>

namespace sluice {

struct ActionText {
    Verdict verdict = Verdict::Drop;
    TagValues tag;
    std::string text = "drop";
};

// `on_exceed`.
[[nodiscard]] ActionText read_action(const YamlNode& node, const ReadContext& context);

}  // namespace sluice
