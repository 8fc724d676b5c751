#pragma once
#include <optional>
#include <string>

namespace sluice {

// The beginning of a page of GET /v1/find, "GENERATION:RULE~" and then "w:POSITION" among the
// findings that nobody is asked about, "k:TIER:KEY" behind that key, or "b:WORKER:POSITION" of
// penalty boxes. A rule's id has no tilde.
struct FindPlace {
    std::string generation{};
    std::string rule{};
    char part = 'w';
    std::string rest{};
};

// Takes what stands before the next separator off a text, and the separator.
[[nodiscard]] std::string take_word(std::string& text, char separator = ':');

// An empty text is the beginning; nullopt: it is no place.
[[nodiscard]] std::optional<FindPlace> read_find_place(std::string text);

}  // namespace sluice
