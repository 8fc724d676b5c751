#pragma once
#include "control/daemon/history.hpp"
#include "control/daemon/kept_file.hpp"
#include "control/daemon/key_journal.hpp"
#include "control/daemon/list_copies.hpp"
#include "control/daemon/rules_file.hpp"
#include "lib/base/result.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace sluice {

// A change that is safe on the disk, and takes its place on commit(): a whole file, or a record.
using PendingChange = std::variant<PendingFile, KeyJournal::Pending>;

// The state directory; every file in it but the journal is written whole, then renamed.
//
//   rules.json              what sluiced starts with: the last set that is meant to stay
//   rules.journal           changes of single keys' settings since it was written
//   rules.unconfirmed.json  a set on trial and its deadline; confirming it is one rename
//   history/                the sets that rules.json held before
//   lists/                  the lists that any of these were compiled with
class Store {
public:
    explicit Store(std::string directory);

    [[nodiscard]] Result<PendingFile> prepare(const StoredRules& rules) const;
    [[nodiscard]] Result<PendingFile> prepare(const Trial& trial) const;
    // The change of the kept set alone, where it is one of single keys; else the whole set.
    [[nodiscard]] Result<PendingChange> prepare_change(const StoredRules& kept,
                                                       const StoredRules& next) const;
    // To be called with the kept set before another takes its place: rules.json, which the history
    // takes, has it whole then.
    [[nodiscard]] Result<Done> fold(const StoredRules& kept) const;
    // Commits what prepare() or prepare_change() gave for the kept set.
    [[nodiscard]] Result<Done> commit(PendingChange& pending) const;
    // The set in force is not what the disk has: the next change is written whole.
    void leave_journal() const noexcept { journal_->leave(); }
    // Why records were left out when the kept set was read; empty: none were.
    [[nodiscard]] const std::string& journal_fault() const noexcept { return kept_->fault; }
    // nullopt: there is none. A file that cannot be read is kept aside and reported.
    [[nodiscard]] Result<std::optional<StoredRules>> load() const;
    [[nodiscard]] Result<std::optional<Trial>> load_trial() const;

    // Puts what rules.json holds into the history; it is about to be replaced.
    [[nodiscard]] Result<Done> remember() const { return history_.add(path_); }
    // The set on trial takes the place of the other.
    [[nodiscard]] Result<Done> confirm_trial() const;
    [[nodiscard]] Result<Done> drop_trial() const { return remove_file(trial_path_); }

    // After a change: copies of lists that none of the sets on the disk names are good for nothing.
    void drop_old_lists() const;

    [[nodiscard]] const History& history() const noexcept { return history_; }

private:
    std::string directory_;
    std::string path_;
    std::string trial_path_;
    ListCopies copies_;
    History history_;
    struct Kept {
        std::string base;   // sum of what was prepared for rules.json last
        std::string fault;  // of the journal
    };
    std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
    std::shared_ptr<KeyJournal> journal_;
};

}  // namespace sluice
