#pragma once
#include "lib/policy/problems/problem.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Keeps the order in which members are given, which is the order of the documentation.
using Json = nlohmann::ordered_json;

[[nodiscard]] Json to_json(const std::vector<Problem>& problems);
[[nodiscard]] std::vector<Problem> problems_from(const Json& list);

// A member that is a text, or a count. They throw where it is none, as nlohmann::json does.
[[nodiscard]] inline std::string text_at(const Json& object, const char* member) {
    return object.at(member).get<std::string>();
}
[[nodiscard]] inline std::uint64_t count_at(const Json& object, const char* member) {
    return object.at(member).get<std::uint64_t>();
}

// One document on a line of its own, without hidden characters (visible_text.hpp). Bytes that are
// not UTF-8 come out as U+FFFD.
[[nodiscard]] std::string dump_line(const Json& document);

}  // namespace sluice
