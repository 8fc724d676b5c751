#pragma once
#include "control/daemon/rules_file.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
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
        std::uint64_t number = 0;
    };

    History(std::string folder, ListCopies copies)
        : folder_{std::move(folder)}, copies_{std::move(copies)} {}

    // Makes the file at `path` the newest, and the oldest goes. Nothing there: nothing to do.
    [[nodiscard]] Result<Done> add(const std::string& path) const;
    // The newest that is not this set (nullptr: none is in force). One that cannot be read is put
    // aside and reported.
    [[nodiscard]] Result<std::optional<Former>> newest_but(const StoredRules* current) const;
    // The one of this number; nullopt: there is none.
    [[nodiscard]] Result<std::optional<Former>> numbered(std::uint64_t number) const;
    // Notes on each set, the newest first; one that cannot be read is left out. Lists are not read.
    // Each file is read once, by one caller at a time.
    struct Note {
        std::uint64_t number = 0;
        StoredRules rules;  // without text, modes, lists and settings
    };
    [[nodiscard]] std::vector<Note> notes() const;
    // Takes out the set, which is in force again, and what is newer too.
    [[nodiscard]] Result<Done> take_out(const Former& former) const;
    // The files of the sets, the oldest first.
    [[nodiscard]] Result<std::vector<std::string>> files() const;

private:
    // Inode, size, and when it was written, in ns.
    using FileId = std::tuple<std::uint64_t, std::int64_t, std::int64_t>;

    [[nodiscard]] static std::optional<FileId> id_of(const std::string& path);
    [[nodiscard]] static std::optional<Note> read_note(const std::string& path);
    [[nodiscard]] Result<Former> read(const std::string& path) const;

    // Notes of files that have been read; a number can be another file's later.
    struct KeptNotes {
        std::mutex reading;
        std::map<FileId, Note> notes;
    };

    std::string folder_;
    ListCopies copies_;
    std::shared_ptr<KeptNotes> kept_ = std::make_shared<KeptNotes>();
};

}  // namespace sluice
