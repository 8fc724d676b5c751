#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <string>
#include <vector>

namespace sluice {

struct KeyText {
    std::vector<KeyPart> parts;
    std::string schema;  // canonical, one spelling for one meaning: what state belongs to
    std::string text;    // as written: "ip.src, l4.dport"
    bool whole = true;   // all of it is in parts
};

[[nodiscard]] KeyText read_key(const YamlNode& node, const ReadContext& context);

// One field or function of one, whose values are told apart as those of a key with that part.
[[nodiscard]] KeyText read_value(const YamlNode& node, const ReadContext& context);

}  // namespace sluice
