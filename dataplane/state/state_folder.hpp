#pragma once
#include "lib/base/result.hpp"
#include "lib/share/core.hpp"
#include "lib/wire/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sluice {

// The state directory, held by one process at a time. What must be durable lies in it; the tables,
// which are memory that outlives the process, lie in its `tables`:
//
//   ruleset.bin, slots.bin   the last rule set, and what the tables' entries mean
//   rss-key                  what the ports hash flows by
//   database-key             what sluiced vouches for patterns with, unless it lies elsewhere
//   panic                    there while `panic pass` is on
//   ports                    what interfaces were before ports changed them
//   tables/                  a folder, where the directory is memory itself (tmpfs, hugetlbfs)
//   tables -> ...            else a link to a folder in a mounted hugetlbfs, or in /dev/shm
//   tables.bad-...           tables that could not be read, kept aside; the latest only
//   lock
class StateFolder {
public:
    // Takes hold of the directory, which is made if there is none. An Error if another dataplane
    // has it. One that cannot be written, or not even be there, is no reason not to limit: what
    // cannot be kept in it is counted and reported.
    [[nodiscard]] static Result<StateFolder> open(const std::string& directory);

    // Takes hold of a directory for forget(). An Error if there is no such directory (Unreachable),
    // or a dataplane has it, which is to be stopped (Refused).
    [[nodiscard]] static Result<StateFolder> open_to_forget(const std::string& directory);

    // The folder for tables, made where `bytes` will find room if there is none.
    [[nodiscard]] Result<std::string> tables(std::size_t bytes, bool huge_pages) const;
    // Puts the tables aside, under a name that is returned; the next call of tables() makes new
    // ones.
    [[nodiscard]] Result<std::string> put_aside() const;
    // Removes all that a dataplane keeps here but `ports` (restore_all()): without it nobody knows
    // what interfaces were.
    [[nodiscard]] Result<Done> forget() const;

    // Something else that could not be read was.
    void note_put_aside() const noexcept { put_aside_->add(1); }
    // How often something was put aside since it was opened.
    [[nodiscard]] std::uint64_t times_put_aside() const noexcept { return put_aside_->read(); }

    // Something that the next process should find could not be written.
    void note_not_kept() const noexcept { not_kept_->add(1); }
    [[nodiscard]] std::uint64_t times_not_kept() const noexcept { return not_kept_->read(); }

    [[nodiscard]] const std::string& path() const noexcept { return directory_; }

private:
    StateFolder(std::string directory, Fd lock) noexcept
        : directory_{std::move(directory)}, lock_{std::move(lock)} {}

    std::string directory_;
    Fd lock_;
    std::unique_ptr<Counter> put_aside_ = std::make_unique<Counter>();
    std::unique_ptr<Counter> not_kept_ = std::make_unique<Counter>();
};

}  // namespace sluice
