#include "control/daemon/history.hpp"

#include "control/daemon/kept_file.hpp"
#include "lib/base/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kDigits = 12;
constexpr std::string_view kEnding = ".json";

bool is_ours(const std::string& name) {
    return name.size() == kDigits + kEnding.size() && name.ends_with(kEnding) &&
           name.find_first_not_of("0123456789") == kDigits;
}

std::uint64_t number_of(const std::string& path) {
    const std::string name = std::filesystem::path{path}.filename().string();
    std::uint64_t number = 0;
    (void)std::from_chars(name.data(), name.data() + kDigits, number);
    return number;
}

}  // namespace

Result<std::vector<std::string>> History::files() const {
    const Result<std::vector<std::string>> names = list_folder(folder_);
    if (!names) {
        return names.error();
    }
    std::vector<std::string> all;
    for (const std::string& name : *names) {
        if (is_ours(name)) {
            all.push_back(folder_ + "/" + name);
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

// A second name for the same file, which is never written again: nothing is copied.
Result<Done> History::add(const std::string& path) const {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    const Result<std::vector<std::string>> listed = files();
    if (!listed) {
        return listed.error();
    }
    const std::vector<std::string>& known = *listed;
    const std::uint64_t number = known.empty() ? 1 : number_of(known.back()) + 1;
    const std::string name = fmt::format("{}/{:0{}}{}", folder_, number, kDigits, kEnding);
    if (::link(path.c_str(), name.c_str()) != 0) {
        return errno == ENOENT && !std::filesystem::exists(path, error)
                   ? Result<Done>{Done{}}
                   : Error{Errc::Unreachable, "cannot write " + name + ": " + std::strerror(errno)};
    }
    const std::size_t too_many = known.size() + 1 > kMost ? known.size() + 1 - kMost : 0;
    for (std::size_t i = 0; i < too_many; ++i) {
        (void)::unlink(known[i].c_str());
    }
    return sync_folder_of(name);
}

Result<History::Former> History::read(const std::string& path) const {
    const Result<std::optional<std::string>> text = read_kept_file(path);
    if (!text) {
        return text.error();
    }
    Result<StoredRules> rules = rules_from_file(text->value_or(""), copies_);
    if (!rules) {
        return put_aside(path, rules.error().what);
    }
    return Former{path, *std::move(rules), number_of(path)};
}

Result<std::optional<History::Former>> History::newest_but(const StoredRules* current) const {
    Result<std::vector<std::string>> known = files();
    if (!known) {
        return known.error();
    }
    std::reverse(known->begin(), known->end());
    for (const std::string& path : *known) {
        Result<Former> former = read(path);
        if (!former) {
            return former.error();
        }
        if (current == nullptr || !same_source(former->rules, *current)) {
            return std::optional{*std::move(former)};
        }
    }
    return std::optional<Former>{};
}

Result<std::optional<History::Former>> History::numbered(std::uint64_t number) const {
    const Result<std::vector<std::string>> known = files();
    if (!known) {
        return known.error();
    }
    const auto path = std::find_if(known->begin(), known->end(), [&](const std::string& one) {
        return number_of(one) == number;
    });
    if (path == known->end()) {
        return std::optional<Former>{};
    }
    Result<Former> former = read(*path);
    return former ? Result<std::optional<Former>>{std::optional{*std::move(former)}}
                  : Result<std::optional<Former>>{former.error()};
}

std::optional<History::FileId> History::id_of(const std::string& path) {
    struct stat is{};
    if (::stat(path.c_str(), &is) != 0) {
        return std::nullopt;
    }
    return FileId{is.st_ino, is.st_size,
                  is.st_mtim.tv_sec * std::int64_t{1'000'000'000} + is.st_mtim.tv_nsec};
}

std::optional<History::Note> History::read_note(const std::string& path) {
    const Result<std::optional<std::string>> text = read_kept_file(path);
    Result<StoredRules> rules = notes_from_file(text ? text->value_or("") : "");
    return rules ? std::optional{Note{number_of(path), *std::move(rules)}} : std::nullopt;
}

std::vector<History::Note> History::notes() const {
    const std::lock_guard lock{kept_->reading};
    std::vector<Note> notes;
    std::map<FileId, Note> known;
    const Result<std::vector<std::string>> paths = files();
    for (const std::string& path : paths ? *paths : std::vector<std::string>{}) {
        const std::optional<FileId> id = id_of(path);
        const auto before = id ? kept_->notes.find(*id) : kept_->notes.end();
        std::optional<Note> note =
            before != kept_->notes.end() ? std::optional{before->second} : read_note(path);
        if (note && id) {
            note->number = number_of(path);
            known.emplace(*id, *note);
            notes.push_back(*std::move(note));
        }
    }
    kept_->notes = std::move(known);
    std::reverse(notes.begin(), notes.end());
    return notes;
}

Result<Done> History::take_out(const Former& former) const {
    const Result<std::vector<std::string>> known = files();
    if (!known) {
        return known.error();
    }
    for (const std::string& path : *known) {
        if (path >= former.path) {
            if (const Result<Done> removed = remove_file(path); !removed) {
                return removed;
            }
        }
    }
    return Done{};
}

}  // namespace sluice
