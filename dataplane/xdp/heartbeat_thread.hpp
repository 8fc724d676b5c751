#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include <pthread.h>

namespace sluice {

// Calls `beat` every so often, on the CPU of its creator. It is no part of the main loop, which may
// take a while over a rule set that is loaded: workers go on meanwhile, and so does the heartbeat.
// Where the kernel allows it (CAP_SYS_NICE), it runs before all that is scheduled in turn: a CPU
// that others fill delays no beat.
class HeartbeatThread {
public:
    [[nodiscard]] static Result<std::unique_ptr<HeartbeatThread>> start(std::function<void()> beat,
                                                                        Nanoseconds every);
    ~HeartbeatThread();
    HeartbeatThread(const HeartbeatThread&) = delete;
    HeartbeatThread& operator=(const HeartbeatThread&) = delete;

private:
    HeartbeatThread(std::function<void()> beat, Nanoseconds every)
        : beat_{std::move(beat)}, every_{every} {}
    void run();
    void come_first() const;

    std::function<void()> beat_;
    Nanoseconds every_;
    pthread_t thread_{};
    bool started_ = false;
    std::mutex mutex_;
    std::condition_variable ends_;
    bool ending_ = false;  // behind mutex_
};

}  // namespace sluice
