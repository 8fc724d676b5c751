#pragma once
#include "lib/wire/fd.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace sluice {

// Notices when files change. The kernel reports their folders (inotify(7)), since editors and
// package tools put another file, link or folder in the place of one; then the files are looked at.
// A file that is still being written is waited for: a change counts once nothing has moved between
// two looks.
class ListWatch {
public:
    ListWatch();

    // Watches these from now on. Other files than before count as changed.
    void watch(const std::set<std::string>& files);
    // The same files, as if they had changed once more.
    void look_again();
    // To be called now and then. True once for each change.
    [[nodiscard]] bool has_changed();

private:
    // Enough to tell a file from what it was: device, inode, size, times of change; zeroes for
    // none.
    using Stamp = std::array<std::int64_t, 7>;
    using Stamps = std::map<std::string, Stamp>;

    [[nodiscard]] bool poll_events();
    void watch_folders();
    void leave_folder(int left);
    [[nodiscard]] Stamps look() const;

    Fd events_;
    std::set<std::string> files_;
    std::map<std::string, int> folders_;  // the kernel's number of each; -1: not watched
    Stamps known_;                        // as they were at the last reported change
    Stamps seen_;                         // at the last look
    bool looking_ = false;                // something has moved, and is not reported yet
};

}  // namespace sluice
