#include "lib/policy/yaml/place_path.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {
namespace {

bool is_behind(Position at, Position begin) noexcept {
    return at.line > begin.line || (at.line == begin.line && at.column >= begin.column);
}

constexpr std::size_t kLongestPathName = 64;  // bytes: keys of the language are shorter

// The last of `parts` that begins no later than the place; nullptr: none does.
template <typename Part, typename Begin>
const Part* last_before(const std::vector<Part>& parts, Position at, Begin begin) {
    const auto behind = std::find_if(parts.rbegin(), parts.rend(),
                                     [&](const Part& part) { return is_behind(at, begin(part)); });
    return behind == parts.rend() ? nullptr : &*behind;
}

// The part of a node that the place stands in, whose step is added to the path.
const YamlNode* part_with(const YamlNode& node, Position at, std::string& path) {
    if (node.is_list()) {
        const YamlNode* const item =
            last_before(node.items, at, [](const YamlNode& one) { return one.at; });
        if (item != nullptr) {
            path += "[" + std::to_string(item - node.items.data()) + "]";
        }
        return item;
    }
    // A map and its first key begin at one place, and the map is meant as often.
    if (!node.is_map() || !is_behind(at, {node.at.line, node.at.column + 1})) {
        return nullptr;
    }
    const YamlEntry* const entry =
        last_before(node.entries, at, [](const YamlEntry& one) { return one.key.at; });
    if (entry == nullptr) {
        return nullptr;
    }
    path += (path.empty() ? "" : ".") + entry->key.text.substr(0, kLongestPathName);
    return &entry->value;
}

}  // namespace

std::string path_to(const YamlNode& root, Position at) {
    std::string path;
    for (const YamlNode* node = &root; node != nullptr; node = part_with(*node, at, path)) {
    }
    return path;
}

std::uint32_t word_length(const LineIndex& lines, Position at) {
    if (at.line == 0 || at.column == 0) {
        return 0;
    }
    const std::string_view rest = lines.text().substr(lines.offset_of(at));
    const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
    if (line.starts_with('"') || line.starts_with('\'')) {
        const std::size_t end = line.find(line.front(), 1);
        return static_cast<std::uint32_t>(end == std::string_view::npos ? line.size() : end + 1);
    }
    return static_cast<std::uint32_t>(std::min(line.find_first_of(" \t,:[]{}()\"'#"), line.size()));
}

}  // namespace sluice
