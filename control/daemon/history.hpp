#pragma once
#include "control/daemon/rules_file.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The sets that were in force before, for rollback: a folder of numbered files, the newest with the
// highest number.
class History {
public:
    static constexpr std::size_t kMost = 8;

    // A set that was in force, and where it lies.
    struct Former {
        std::string path;
        StoredRules rules;
    };

    History(std::string folder, ListCopies copies)
        : folder_{std::move(folder)}, copies_{std::move(copies)} {}

    // What lies at `path` becomes the newest, and the oldest goes. Nothing there: nothing to do.
    [[nodiscard]] Result<Done> add(const std::string& path) const;
    // The newest that is not of this generation. One that cannot be read is put aside and reported.
    [[nodiscard]] Result<std::optional<Former>> newest_but(std::uint64_t generation) const;
    // It is in force again: it goes, and what is newer too.
    [[nodiscard]] Result<Done> take_out(const Former& former) const;
    // Where the sets lie, the oldest first.
    [[nodiscard]] Result<std::vector<std::string>> files() const;

private:
    std::string folder_;
    ListCopies copies_;
};

}  // namespace sluice
