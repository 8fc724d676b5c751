#include "control/daemon/list_watch.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::uint32_t kWhat = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

std::string folder_of(const std::string& file) {
    return std::filesystem::path{file}.parent_path().string();
}

}  // namespace

ListWatch::ListWatch() : events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)} {}

void ListWatch::watch(const std::set<std::string>& files) {
    if (files == files_) {
        return;
    }
    files_ = files;
    for (const auto& [folder, number] : folders_) {
        (void)::inotify_rm_watch(events_.get(), number);
    }
    folders_.clear();
    for (const std::string& file : files_) {
        folders_.try_emplace(folder_of(file), -1);
    }
    watch_folders();
    known_.clear();
    seen_.clear();
    looking_ = !files_.empty();
}

void ListWatch::look_again() {
    known_.clear();
    looking_ = !files_.empty();
}

// A folder that is not there now may come.
void ListWatch::watch_folders() {
    for (auto& [folder, number] : folders_) {
        if (number < 0) {
            number = ::inotify_add_watch(events_.get(), folder.c_str(), kWhat);
            looking_ = looking_ || number >= 0;
        }
    }
}

// The folder is another's now, or gone: look for the one of that name.
void ListWatch::leave_folder(int left) {
    for (auto& [folder, number] : folders_) {
        if (number == left) {
            (void)::inotify_rm_watch(events_.get(), number);
            number = -1;
        }
    }
}

// True if anything has happened in the folders.
bool ListWatch::poll_events() {
    alignas(inotify_event) std::array<char, 16'384> bytes;
    bool any = false;
    for (;;) {
        const ssize_t got = ::read(events_.get(), bytes.data(), bytes.size());
        if (got <= 0) {
            return any;
        }
        any = true;
        for (ssize_t at = 0; at < got;) {
            inotify_event event{};
            std::memcpy(&event, bytes.data() + at, sizeof(event));
            at += static_cast<ssize_t>(sizeof(event) + event.len);
            if ((event.mask & (IN_IGNORED | IN_MOVE_SELF)) != 0) {
                leave_folder(event.wd);
            }
        }
    }
}

ListWatch::Stamps ListWatch::look() const {
    Stamps stamps;
    for (const std::string& file : files_) {
        struct stat info{};
        Stamp& stamp = stamps[file];
        if (::stat(file.c_str(), &info) == 0) {
            stamp = {static_cast<std::int64_t>(info.st_dev),
                     static_cast<std::int64_t>(info.st_ino),
                     info.st_size,
                     info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec,
                     info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec};
        }
    }
    return stamps;
}

bool ListWatch::has_changed() {
    looking_ = poll_events() || looking_;
    watch_folders();
    if (!looking_) {
        return false;
    }
    Stamps now = look();
    if (now != seen_) {
        seen_ = std::move(now);
        return false;  // it may still move
    }
    looking_ = false;
    if (seen_ == known_) {
        return false;
    }
    known_ = seen_;
    return true;
}

}  // namespace sluice
