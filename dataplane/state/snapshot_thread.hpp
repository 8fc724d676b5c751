#pragma once
#include "lib/base/result.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include <pthread.h>

namespace sluice {

// The one thread that writes all snapshots of a process, created at the start, so that a snapshot
// never needs a new thread. It runs on the CPU of its creator.
class SnapshotThread {
public:
    static constexpr std::size_t kStack = std::size_t{1} << 20;

    // `write` is called there. An Error says that there is no thread to be had.
    [[nodiscard]] static Result<std::unique_ptr<SnapshotThread>> start(std::function<void()> write,
                                                                       std::size_t stack = kStack);
    // Waits for what is being written.
    ~SnapshotThread();
    SnapshotThread(const SnapshotThread&) = delete;
    SnapshotThread& operator=(const SnapshotThread&) = delete;

    // Requests a snapshot. False: one is being written or already requested.
    bool ask();

private:
    explicit SnapshotThread(std::function<void()> write) : write_{std::move(write)} {}
    void run();

    std::function<void()> write_;
    pthread_t thread_{};
    bool started_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool wanted_ = false;  // behind mutex_, as the next
    bool ending_ = false;
};

}  // namespace sluice
