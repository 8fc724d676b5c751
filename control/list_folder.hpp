#pragma once
#include "lib/policy/lists/list_reader.hpp"

#include <string>

namespace sluice {

// The folder of a rule file, absolute: relative paths in the file begin there, whatever the
// current folder of the reader.
[[nodiscard]] std::string absolute_folder_of(const std::string& rule_file);

// The path of a list that a rule file of that folder names.
[[nodiscard]] std::string list_path(const std::string& folder, const std::string& path);

// Reads lists relative to a folder (empty: the current one). Only regular files: a pipe would
// block the reader.
[[nodiscard]] Result<ListFile> read_list_file(const std::string& folder, const std::string& path);

// read_list_file() for the rule file of that path, as a command names it.
[[nodiscard]] ListReader lists_beside(const std::string& rule_file);

}  // namespace sluice
