#pragma once
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// A limit that stands in no rule, as rules have it.
struct LoneLimit {
    Position at;
    AnyLimit numbers;
    Per per = Per::Packet;
    std::string algorithm;
    std::string text;   // "token_bucket 50/s burst 200"
    std::string bound;  // the most it admits in any window W
    // Every key of its map as it is written, `algorithm` and `per` among them.
    std::vector<std::pair<std::string, std::string>> words;
};

struct LoneLimits {
    std::optional<std::vector<LoneLimit>> limits;  // nullopt: the problems say why
    std::vector<Problem> problems;                 // places are in the text
};

// The list that a rule has in `limits`: `text` is that list, or a map with `limits` alone. One to
// `most` of them, each written out: names of others are known in rule files only.
[[nodiscard]] LoneLimits read_lone_limits(std::string_view text, std::size_t most);

}  // namespace sluice
