#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/yaml/line_index.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

class Databases;
class SuffixFile;
struct ClientIp;

// How far a key of a map is built.
struct KeyRow {
    std::string_view name;
    bool built = true;
};

// The versions of packets that a condition lets through.
struct IpVersions {
    bool v4 = true;
    bool v6 = true;
};

// The surroundings of what is read, and where problems go. `strict` is whether something that is
// not enforced yet is an error (Purpose::Enforce, in a rule that is not off).
struct ReadContext {
    const LineIndex& lines;  // the whole file
    Problems& problems;
    bool strict = false;
    Databases* databases = nullptr;  // that fields are from; nullptr: their use is not recorded
    const ClientIp* client_ip = nullptr;  // what client.ip is; nullptr: ip.src
    TextNames* text_names = nullptr;      // headers, ... are noted here; nullptr: none can be
    SuffixFile* suffixes = nullptr;  // what registrable domains are; nullptr: it is not checked
    std::optional<IpVersions>
        versions{};  // that the rule's `when` lets through; nullopt: not known

    void not_enforced(Position at, const std::string& what) const;
    // An error, or else a warning.
    void complain(Position at, const std::string& what, bool is_error) const;
};

// A map of the file, read strictly: every key is known, every value has the right type.
class MapReader {
public:
    // Reports unknown keys, and keys that are not built yet with what is wrong inside them.
    MapReader(const YamlNode& node, std::span<const KeyRow> known, const ReadContext& context,
              std::string_view what);

    // True if there is a map to read at all.
    [[nodiscard]] bool is_map() const noexcept { return node_.is_map(); }
    [[nodiscard]] const YamlNode& node() const noexcept { return node_; }
    [[nodiscard]] const YamlNode* find(std::string_view key) const noexcept;
    [[nodiscard]] Position place_of_key(std::string_view key) const noexcept;

    // Each reports a wrong type at the value's place, and gives nullopt when absent or wrong.
    [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
    [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key,
                                                      std::uint64_t max) const;
    // `25%`, from 1 to 100.
    [[nodiscard]] std::optional<unsigned> percent(std::string_view key) const;
    // The index of the word in `words`.
    [[nodiscard]] std::optional<std::size_t> word(std::string_view key,
                                                  std::span<const std::string_view> words) const;

private:
    const YamlNode& node_;
    const ReadContext& context_;
};

// The value of a key of a map; nullptr if there is none.
[[nodiscard]] const YamlNode* value_of(const YamlNode& map, std::string_view key) noexcept;

[[nodiscard]] std::string kind_name(const YamlNode& node);

// The fault of the `version` of a rule file; empty: it is the one that is read.
[[nodiscard]] std::string version_fault(const YamlNode& version);

}  // namespace sluice
