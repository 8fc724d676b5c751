#include "control/daemon/api/find_place.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace sluice {

std::string take_word(std::string& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string word = text.substr(0, end);
    text.erase(0, end + 1);
    return word;
}

std::optional<FindPlace> read_find_place(std::string text) {
    FindPlace place;
    if (text.empty()) {
        return place;
    }
    place.generation = take_word(text);
    place.rule = take_word(text, '~');
    const std::string part = take_word(text);
    place.rest = std::move(text);
    if (place.rule.empty() || part.size() != 1 ||
        std::string_view{"wkb"}.find(part) == std::string_view::npos) {
        return std::nullopt;
    }
    place.part = part.front();
    return place;
}

}  // namespace sluice
