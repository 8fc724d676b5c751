#include "dataplane/state/snapshot_thread.hpp"

#include <cstring>
#include <string>
#include <utility>

namespace sluice {

Result<std::unique_ptr<SnapshotThread>> SnapshotThread::start(std::function<void()> write,
                                                              std::size_t stack) {
    std::unique_ptr<SnapshotThread> made{new SnapshotThread{std::move(write)}};
    const auto run = [](void* self) -> void* {
        static_cast<SnapshotThread*>(self)->run();
        return nullptr;
    };
    pthread_attr_t attributes;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, stack);
    const int failed = pthread_create(&made->thread_, &attributes, run, made.get());
    (void)pthread_attr_destroy(&attributes);
    if (failed != 0) {
        return Error{Errc::TooMany,
                     std::string{"there is no thread for snapshots: "} + std::strerror(failed)};
    }
    made->started_ = true;
    return made;
}

SnapshotThread::~SnapshotThread() {
    if (!started_) {
        return;
    }
    {
        const std::lock_guard lock{mutex_};
        ending_ = true;
    }
    changed_.notify_one();
    (void)pthread_join(thread_, nullptr);
}

bool SnapshotThread::ask() {
    {
        const std::lock_guard lock{mutex_};
        if (wanted_) {
            return false;
        }
        wanted_ = true;
    }
    changed_.notify_one();
    return true;
}

// Snapshots asked for before the end are written before it.
void SnapshotThread::run() {
    std::unique_lock lock{mutex_};
    for (;;) {
        changed_.wait(lock, [this] { return wanted_ || ending_; });
        if (!wanted_) {
            return;
        }
        lock.unlock();
        write_();
        lock.lock();
        wanted_ = false;
    }
}

}  // namespace sluice
