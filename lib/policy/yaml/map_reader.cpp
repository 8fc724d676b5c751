#include "lib/policy/yaml/map_reader.hpp"

#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace sluice {
namespace {

const KeyRow* find_row(std::span<const KeyRow> known, std::string_view name) {
    const auto row = std::find_if(known.begin(), known.end(),
                                  [&](const KeyRow& one) { return one.name == name; });
    return row == known.end() ? nullptr : &*row;
}

// A key as other products call it, in maps that have `ours`, and the words that say what is meant.
struct ForeignKey {
    std::string_view theirs;
    std::string_view ours;
    std::string_view words;
};
constexpr std::string_view kExceedOrMatch =
    "; did you mean `on_exceed`, for what its limits refuse, or `on_match`, for all that it "
    "matches?";
constexpr auto kForeignKeys = std::to_array<ForeignKey>(
    {{"action", "on_exceed", kExceedOrMatch},
     {"verdict", "on_exceed", kExceedOrMatch},
     {"condition", "when", "; did you mean `when`?"},
     {"if", "when", "; did you mean `when`?"},
     {"match", "when", "; did you mean `when`?"},
     {"cluster_sync", "scope",
      "; `scope: cluster` shares a limit, and `cluster:` of sluice.yaml says with whom and how "
      "soon"},
     {"cluster_sync", "cluster", "; `cluster:` has `sync`, and rules say `scope: cluster`"},
     {"cluster_sync", "etcd", "; `sync` of `cluster:` says how soon boxes tell each other"},
     {"discovery", "cluster",
      "; `cluster:` has `store` and `etcd`, by which boxes find each other"},
     {"discovery", "etcd", "; `store` and `etcd` of `cluster:` are where boxes find each other"},
     {"zone", "algorithm", "; `zone` is for fixed_window, whose windows begin by a clock"}});

std::string meant_by(std::string_view name, std::span<const KeyRow> known,
                     std::span<const std::string_view> names) {
    const auto foreign = std::ranges::find_if(kForeignKeys, [&](const ForeignKey& one) {
        return one.theirs == name && find_row(known, one.ours) != nullptr;
    });
    return foreign == kForeignKeys.end() ? did_you_mean(name, names) : std::string{foreign->words};
}

std::string unknown_key(std::string_view name, std::span<const KeyRow> known,
                        std::string_view what) {
    std::vector<std::string_view> names;
    for (const KeyRow& row : known) {
        if (row.built) {
            names.push_back(row.name);
        }
    }
    const std::string suggestion = meant_by(name, known, names);
    return "unknown key `" + std::string{name} + "` in " + std::string{what} +
           (suggestion.empty() ? "; known are " + list_of(names) : suggestion);
}

}  // namespace

void ReadContext::not_enforced(Position at, const std::string& what) const {
    complain(at, "not enforced yet: " + what, strict);
}

void ReadContext::complain(Position at, const std::string& what, bool is_error) const {
    if (is_error) {
        problems.error(at, what);
    } else {
        problems.warning(at, what);
    }
}

std::string kind_name(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::Null:
            return "nothing";
        case YamlNode::Kind::Scalar:
            return "`" + node.text + "`";
        case YamlNode::Kind::List:
            return "a list";
        default:
            return "a map";
    }
}

std::string version_fault(const YamlNode& version) {
    const bool says_one = version.is_scalar() && version.text == "1";
    if (says_one && version.plain) {
        return "";
    }
    return "this version reads `version: 1`, " +
           (says_one ? "a number: write it without quotes" : "found " + kind_name(version));
}

MapReader::MapReader(const YamlNode& node, std::span<const KeyRow> known,
                     const ReadContext& context, std::string_view what)
    : node_{node}, context_{context} {
    if (!node.is_map()) {
        context.problems.error(node.at,
                               std::string{what} + " must be a map, found " + kind_name(node));
        return;
    }
    for (const auto& [key, value] : node.entries) {
        const KeyRow* row = find_row(known, key.text);
        if (row == nullptr) {
            context.problems.error(key.at, unknown_key(key.text, known, what));
        } else if (!row->built) {
            context.not_enforced(key.at, "`" + key.text + "` of " + std::string{what});
        }
    }
}

const YamlNode* value_of(const YamlNode& map, std::string_view key) noexcept {
    for (const auto& [name, value] : map.entries) {
        if (name.text == key) {
            return &value;
        }
    }
    return nullptr;
}

const YamlNode* MapReader::find(std::string_view key) const noexcept {
    return value_of(node_, key);
}

Position MapReader::place_of_key(std::string_view key) const noexcept {
    for (const auto& [name, value] : node_.entries) {
        if (name.text == key) {
            return name.at;
        }
    }
    return node_.at;
}

std::optional<std::string> MapReader::text(std::string_view key) const {
    const YamlNode* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_scalar()) {
        context_.problems.error(
            value->at, "`" + std::string{key} + "` must be a text, found " + kind_name(*value));
        return std::nullopt;
    }
    return value->text;
}

std::optional<bool> MapReader::flag(std::string_view key) const {
    const YamlNode* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (value->is_scalar() && value->plain && (value->text == "true" || value->text == "false")) {
        return value->text == "true";
    }
    context_.problems.error(
        value->at, "`" + std::string{key} + "` must be true or false, found " + kind_name(*value));
    return std::nullopt;
}

std::optional<std::uint64_t> MapReader::number(std::string_view key, std::uint64_t max) const {
    const YamlNode* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_scalar()) {
        context_.problems.error(
            value->at, "`" + std::string{key} + "` must be a number, found " + kind_name(*value));
        return std::nullopt;
    }
    const Result<std::uint64_t> number = parse_number(value->text, max);
    if (!number) {
        context_.problems.error(value->at, "`" + std::string{key} + "`: " + number.error().what);
        return std::nullopt;
    }
    return *number;
}

std::optional<unsigned> MapReader::percent(std::string_view key) const {
    const YamlNode* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::string_view text = value->text;
    if (value->is_scalar() && text.ends_with('%')) {
        const auto number = parse_number(text.substr(0, text.size() - 1), 100);
        if (number && *number > 0) {
            return static_cast<unsigned>(*number);
        }
    }
    context_.problems.error(
        value->at, "`" + std::string{key} + "` is a share such as 25%, found " + kind_name(*value));
    return std::nullopt;
}

std::optional<std::size_t> MapReader::word(std::string_view key,
                                           std::span<const std::string_view> words) const {
    const YamlNode* value = find(key);
    if (value == nullptr) {
        return std::nullopt;
    }
    const auto found =
        value->is_scalar() ? std::find(words.begin(), words.end(), value->text) : words.end();
    if (found != words.end()) {
        return static_cast<std::size_t>(found - words.begin());
    }
    const std::string suggestion = value->is_scalar() ? did_you_mean(value->text, words) : "";
    const std::string_view one_of = words.size() == 1 ? "` is " : "` is one of ";
    context_.problems.error(value->at, "`" + std::string{key} + std::string{one_of} +
                                           list_of(words) + "; found " + kind_name(*value) +
                                           suggestion);
    return std::nullopt;
}

}  // namespace sluice
