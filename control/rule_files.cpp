#include "control/rule_files.hpp"

#include "control/list_folder.hpp"
#include "control/text_file.hpp"
#include "lib/policy/yaml/text_check.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStdin = "-";
constexpr std::size_t kMostNames = 3;  // in a label

bool is_rule_file(const fs::path& path) {
    const std::string name = path.filename().string();
    return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

Error no_rules_in(const std::string& path, const std::string& why) {
    return {Errc::Unreachable, "cannot read " + path + ": " + why};
}

// The rule files of a folder; folders in it are left alone.
Result<std::vector<std::string>> files_in(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    fs::directory_iterator at{folder, error};
    for (; !error && at != fs::directory_iterator{}; at.increment(error)) {
        std::error_code ignored;
        if (is_rule_file(at->path()) && !at->is_directory(ignored)) {
            files.push_back(at->path().string());
        }
    }
    if (error) {
        return no_rules_in(folder, error.message());
    }
    if (files.empty()) {
        return no_rules_in(folder, "the folder has no *.yaml and no *.yml");
    }
    std::sort(files.begin(), files.end());
    return files;
}

// The files to read, a folder as its files.
Result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code error;
        if (path == kStdin || !fs::is_directory(path, error)) {
            files.push_back(path);
            continue;
        }
        Result<std::vector<std::string>> inside = files_in(path);
        if (!inside) {
            return inside.error();
        }
        std::move(inside->begin(), inside->end(), std::back_inserter(files));
    }
    if (files.size() > kMaxRuleFiles) {
        return Error{Errc::TooMany, std::to_string(files.size()) +
                                        " rule files are named; a set "
                                        "has at most " +
                                        std::to_string(kMaxRuleFiles)};
    }
    std::set<std::string> seen;
    for (const std::string& file : files) {
        const std::string whole =
            file == kStdin ? file : fs::path{file}.lexically_normal().string();
        if (!seen.insert(whole).second) {
            return Error{Errc::OutOfRange, (file == kStdin ? std::string{"standard input"} : file) +
                                               " is named twice"};
        }
    }
    return files;
}

std::string working_folder() {
    std::error_code error;
    return fs::current_path(error).string();
}

}  // namespace

std::vector<RuleFilePart> parts_of(std::string_view text, const std::vector<FileSlice>& slices) {
    std::vector<RuleFilePart> parts;
    for (const FileSlice& slice : slices) {
        const std::string_view part = text.substr(0, slice.size);
        parts.push_back({slice.name, part, slice.folder});
        text.remove_prefix(part.size());
    }
    return parts;
}

Result<RuleFiles> read_rule_files(const std::vector<std::string>& paths) {
    const Result<std::vector<std::string>> files = files_of(paths);
    if (!files) {
        return files.error();
    }
    RuleFiles set;
    std::vector<std::string> names;
    for (const std::string& path : *files) {
        const bool is_stdin = path == kStdin;
        const Result<std::string> text =
            is_stdin ? read_text_stream(stdin, std::string{kStandardInput}) : read_text_file(path);
        if (!text) {
            return text.error();
        }
        if (set.text.size() + text->size() > kMaxTextSize) {
            return Error{Errc::TooMany, "the rule files are larger than 64 MiB together"};
        }
        set.text += *text;
        set.slices.push_back({is_stdin ? std::string{kStandardInput} : path,
                              is_stdin ? working_folder() : absolute_folder_of(path),
                              text->size()});
    }
    if (set.slices.empty()) {
        return Error{Errc::OutOfRange, "no rule file is named"};
    }
    for (const std::string& path : paths) {
        names.push_back(path == kStdin ? std::string{kStandardInput} : path);
    }
    set.label = set.slices.size() == 1 ? set.slices.front().name : label_of(names);
    set.folder = set.slices.front().folder;
    if (set.slices.size() == 1) {
        set.slices.clear();
    }
    return set;
}

std::string_view text_with(const Problem& problem, std::string_view label, std::string_view text,
                           const std::vector<FileSlice>& slices) {
    if (slices.empty()) {
        return problem.file == label ? text : std::string_view{};
    }
    for (const RuleFilePart& part : parts_of(text, slices)) {
        if (part.file == problem.file) {
            return part.text;
        }
    }
    return {};
}

std::string label_of(const std::vector<std::string>& names) {
    std::string label;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
        label += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() <= kMostNames
               ? label
               : label + " and " + std::to_string(names.size() - kMostNames) + " more";
}

}  // namespace sluice
