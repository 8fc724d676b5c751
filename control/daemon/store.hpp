#pragma once
#include "control/daemon/history.hpp"
#include "control/daemon/kept_file.hpp"
#include "control/daemon/list_copies.hpp"
#include "control/daemon/rules_file.hpp"
#include "lib/base/result.hpp"

#include <optional>
#include <string>

namespace sluice {

// The state directory; every file in it is written whole, then renamed.
//
//   rules.json              what sluiced starts with: the last set that is meant to stay
//   rules.unconfirmed.json  a set on trial and its deadline; confirming it is one rename
//   history/                the sets that rules.json held before
//   lists/                  the lists that any of these were compiled with
class Store {
public:
    explicit Store(std::string directory);

    [[nodiscard]] Result<PendingFile> prepare(const StoredRules& rules) const;
    [[nodiscard]] Result<PendingFile> prepare(const Trial& trial) const;
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
};

}  // namespace sluice
