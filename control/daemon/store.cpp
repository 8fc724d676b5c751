#include "control/daemon/store.hpp"

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace sluice {
namespace {

template <typename T>
Result<std::optional<T>> load_from(const std::string& path, const ListCopies& copies,
                                   Result<T> (*read)(const std::string&, const ListCopies&),
                                   std::string* sum = nullptr) {
    const Result<std::optional<std::string>> text = read_kept_file(path);
    if (!text) {
        return put_aside(path, text.error().what);
    }
    if (!*text) {
        return std::optional<T>{};
    }
    if (sum != nullptr) {
        *sum = sum_of(**text);
    }
    Result<T> value = read(**text, copies);
    if (!value) {
        return put_aside(path, value.error().what);
    }
    return std::optional{*std::move(value)};
}

// The lists first: a set on the disk always has its lists.
Result<PendingFile> write_beside(const std::string& path, const std::string& text,
                                 const ListTexts& lists, const ListCopies& copies) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), error);
    if (const Result<Done> copied = copies.add(lists); !copied) {
        return copied.error();
    }
    return PendingFile::write(path, text);
}

}  // namespace

Store::Store(std::string directory)
    : directory_{std::move(directory)},
      path_{directory_ + "/rules.json"},
      trial_path_{directory_ + "/rules.unconfirmed.json"},
      copies_{directory_},
      history_{directory_ + "/history", copies_},
      journal_{std::make_shared<KeyJournal>(directory_ + "/rules.journal")} {}

Result<PendingFile> Store::prepare(const StoredRules& rules) const {
    const std::string text = file_text(rules);
    kept_->base = sum_of(text);
    return write_beside(path_, text, rules.lists, copies_);
}

Result<PendingFile> Store::prepare(const Trial& trial) const {
    return write_beside(trial_path_, file_text(trial), trial.rules.lists, copies_);
}

Result<PendingChange> Store::prepare_change(const StoredRules& kept,
                                            const StoredRules& next) const {
    if (std::optional<Result<KeyJournal::Pending>> record = journal_->prepare(kept, next)) {
        return *record ? Result<PendingChange>{PendingChange{**std::move(record)}}
                       : Result<PendingChange>{record->error()};
    }
    Result<PendingFile> whole = prepare(next);
    return whole ? Result<PendingChange>{PendingChange{*std::move(whole)}}
                 : Result<PendingChange>{whole.error()};
}

Result<Done> Store::fold(const StoredRules& kept) const {
    if (!journal_->has_records()) {
        return Done{};
    }
    Result<PendingFile> whole = prepare(kept);
    if (!whole) {
        return whole.error();
    }
    PendingChange pending{*std::move(whole)};
    return commit(pending);
}

Result<Done> Store::commit(PendingChange& pending) const {
    if (auto* record = std::get_if<KeyJournal::Pending>(&pending)) {
        return record->commit();
    }
    Result<Done> done = std::get<PendingFile>(pending).commit();
    if (done) {
        journal_->begin(kept_->base);
    } else {
        journal_->leave();
    }
    return done;
}

Result<std::optional<StoredRules>> Store::load() const {
    std::string base;
    Result<std::optional<StoredRules>> rules = load_from(path_, copies_, rules_from_file, &base);
    kept_->fault.clear();
    if (rules && *rules) {
        if (const Result<Done> done = journal_->replay(base, **rules); !done) {
            kept_->fault = done.error().what;
        }
    }
    return rules;
}

Result<std::optional<Trial>> Store::load_trial() const {
    return load_from(trial_path_, copies_, trial_from_file);
}

Result<Done> Store::confirm_trial() const {
    if (const Result<Done> renamed = rename_file(trial_path_, path_); !renamed) {
        return renamed;
    }
    return sync_folder_of(path_);
}

// One that cannot be read, or not be found just now, may name any of them: then all stay.
void Store::drop_old_lists() const {
    if (copies_.is_empty()) {
        return;
    }
    Result<std::vector<std::string>> paths = history_.files();
    if (!paths) {
        return;
    }
    paths->insert(paths->end(), {path_, trial_path_});
    std::set<std::string> sums;
    for (const std::string& path : *paths) {
        const Result<std::optional<std::string>> text = read_kept_file(path);
        if (!text || (*text && !add_list_sums(**text, sums))) {
            return;
        }
    }
    copies_.keep_only(sums);
}

}  // namespace sluice
