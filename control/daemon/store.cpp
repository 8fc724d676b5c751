#include "control/daemon/store.hpp"

#include <filesystem>
#include <utility>

namespace sluice {
namespace {

template <typename T>
Result<std::optional<T>> load_from(const std::string& path, Result<T> (*read)(const std::string&)) {
    const Result<std::optional<std::string>> text = read_kept_file(path);
    if (!text) {
        return put_aside(path, text.error().what);
    }
    if (!*text) {
        return std::optional<T>{};
    }
    Result<T> value = read(**text);
    if (!value) {
        return put_aside(path, value.error().what);
    }
    return std::optional{*std::move(value)};
}

}  // namespace

Store::Store(std::string directory)
    : directory_{std::move(directory)},
      path_{directory_ + "/rules.json"},
      trial_path_{directory_ + "/rules.unconfirmed.json"},
      history_{directory_ + "/history"} {}

Result<PendingFile> Store::prepare(const StoredRules& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    return PendingFile::write(path_, file_text(rules));
}

Result<PendingFile> Store::prepare(const Trial& trial) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    return PendingFile::write(trial_path_, file_text(trial));
}

Result<std::optional<StoredRules>> Store::load() const {
    return load_from(path_, rules_from_file);
}

Result<std::optional<Trial>> Store::load_trial() const {
    return load_from(trial_path_, trial_from_file);
}

Result<Done> Store::confirm_trial() const {
    if (const Result<Done> renamed = rename_file(trial_path_, path_); !renamed) {
        return renamed;
    }
    return sync_folder_of(path_);
}

}  // namespace sluice
