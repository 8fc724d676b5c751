#pragma once
#include "lib/base/result.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The name under which what came by standard input is shown.
inline constexpr std::string_view kStandardInput = "(standard input)";

// One of the files of a set whose texts stand one after the other, byte for byte.
struct FileSlice {
    std::string name;
    std::string folder;    // absolute: relative paths in it begin there
    std::size_t size = 0;  // bytes of its text

    [[nodiscard]] bool operator==(const FileSlice&) const = default;
};

// The rule files of one set.
struct RuleFiles {
    std::string label;  // of all of them, for people
    std::string text;   // of all of them
    // Set for several files. Of one file, `folder` and `label` say the same.
    std::vector<FileSlice> slices{};
    std::string folder;  // absolute, of the first
};

// The parts of such a text; none where it is one file.
[[nodiscard]] std::vector<RuleFilePart> parts_of(std::string_view text,
                                                 const std::vector<FileSlice>& slices);

// Files that a command names: a folder stands for what in it ends with .yaml or .yml, in the order
// of the names and without what begins with a dot; `-`, at most once, for standard input.
[[nodiscard]] Result<RuleFiles> read_rule_files(const std::vector<std::string>& paths);

// The text of the file that a problem is in; empty: of none of these.
[[nodiscard]] std::string_view text_with(const Problem& problem, std::string_view label,
                                         std::string_view text,
                                         const std::vector<FileSlice>& slices);

// A label of several names that fits a line.
[[nodiscard]] std::string label_of(const std::vector<std::string>& names);

}  // namespace sluice
