#include "lib/policy/yaml/line_index.hpp"

#include <algorithm>

namespace sluice {

LineIndex::LineIndex(std::string_view text) : text_{text}, starts_{0} {
    for (std::size_t end = text.find('\n'); end != std::string_view::npos;
         end = text.find('\n', end + 1)) {
        starts_.push_back(static_cast<std::uint32_t>(end + 1));
    }
}

Position LineIndex::place_at(std::size_t offset) const noexcept {
    offset = std::min(offset, text_.size());
    const auto behind = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return {static_cast<std::uint32_t>(behind - starts_.begin()),
            static_cast<std::uint32_t>(offset - *(behind - 1)) + 1};
}

std::size_t LineIndex::offset_of(Position at) const noexcept {
    if (at.line == 0 || at.column == 0 || at.line > starts_.size()) {
        return text_.size();
    }
    return std::min<std::size_t>(std::size_t{starts_[at.line - 1]} + at.column - 1, text_.size());
}

}  // namespace sluice
