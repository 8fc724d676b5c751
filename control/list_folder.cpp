#include "control/list_folder.hpp"

#include "lib/base/read_file.hpp"
#include "lib/policy/lists/list_text.hpp"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

namespace sluice {
namespace {

namespace fs = std::filesystem;

Error unreadable(const std::string& path, const std::string& why) {
    return {Errc::Unreachable, "cannot read " + path + ": " + why};
}

}  // namespace

std::string absolute_folder_of(const std::string& rule_file) {
    std::error_code error;
    const fs::path whole = fs::absolute(rule_file, error);
    return error ? std::string{} : whole.lexically_normal().parent_path().string();
}

std::string list_path(const std::string& folder, const std::string& path) {
    return (fs::path{folder} / path).lexically_normal().string();
}

Result<ListFile> read_list_file(const std::string& folder, const std::string& path) {
    const std::string whole = list_path(folder, path);
    Result<std::optional<std::string>> text = read_whole_file(whole, kMaxListSize);
    if (!text) {
        // A path that is no regular file is retried when list_watch reports a change.
        const Errc code = text.error().code;
        return Error{code == Errc::BadSyntax ? Errc::Unreachable : code, text.error().what};
    }
    if (!*text) {
        return unreadable(whole, std::generic_category().message(ENOENT));
    }
    return ListFile{whole, std::make_shared<const std::string>(**std::move(text))};
}

ListReader lists_beside(const std::string& rule_file) {
    const std::string folder = fs::path{rule_file}.parent_path().string();
    return [folder](const std::string& path) { return read_list_file(folder, path); };
}

}  // namespace sluice
