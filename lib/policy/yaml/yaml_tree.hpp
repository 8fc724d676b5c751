#pragma once
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/yaml/line_index.hpp"
#include "lib/policy/yaml/text_check.hpp"

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMaxYamlDepth = 32;
inline constexpr std::size_t kMaxYamlNodes = 4U << 20;

// YAML as we take it: maps, lists and scalars, each with its place; no aliases, anchors, tags,
// merge keys or second documents; no key twice.
struct YamlEntry;
struct YamlNode {
    enum class Kind : std::uint8_t { Null, Scalar, List, Map };

    Kind kind = Kind::Null;
    Position at;
    bool plain = false;              // a scalar without quotes or block style
    std::string text;                // of a scalar
    std::vector<YamlNode> items;     // of a list
    std::vector<YamlEntry> entries;  // of a map, in order

    [[nodiscard]] bool is_scalar() const noexcept { return kind == Kind::Scalar; }
    [[nodiscard]] bool is_list() const noexcept { return kind == Kind::List; }
    [[nodiscard]] bool is_map() const noexcept { return kind == Kind::Map; }
};

struct YamlEntry {
    YamlNode key;
    YamlNode value;
};

// `lines` of at most kMaxTextSize bytes. nullopt when there is no tree to work on; what is wrong is
// in `problems` either way. Throws only what the standard library throws.
[[nodiscard]] std::optional<YamlNode> read_yaml(const LineIndex& lines, Problems& problems);

// The outcome of read(lines, root) for a file; nullopt if it has no tree. A larger file, and what
// libraries throw, are problems of the file.
template <typename Read>
[[nodiscard]] std::invoke_result_t<Read, const LineIndex&, const YamlNode&> read_file(
    std::string_view text, Problems& problems, Read&& read) {
    if (text.size() > kMaxTextSize) {
        problems.error({}, "the file is larger than 64 MiB");
        return std::nullopt;
    }
    try {
        const LineIndex lines{text};
        if (const std::optional<YamlNode> root = read_yaml(lines, problems)) {
            return read(lines, *root);
        }
    } catch (const std::bad_alloc&) {
        problems.error({}, "there is too little memory to compile it");
    } catch (const std::exception& error) {
        problems.error({}, error.what());
    }
    return std::nullopt;
}

}  // namespace sluice
