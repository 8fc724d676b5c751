#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/action.hpp"

#include <string>

namespace sluice {

struct ActionText {
    Action action;
    std::string text = "drop";
};

// `on_exceed`, or what stands for one colour in `on_color`.
[[nodiscard]] ActionText read_action(const YamlNode& node, const ReadContext& context);

}  // namespace sluice
