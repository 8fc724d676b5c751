#include "dataplane/xdp/heartbeat_thread.hpp"

#include "lib/base/log.hpp"

#include <cstring>
#include <string>

#include <sched.h>

namespace sluice {

Result<std::unique_ptr<HeartbeatThread>> HeartbeatThread::start(std::function<void()> beat,
                                                                Nanoseconds every) {
    std::unique_ptr<HeartbeatThread> made{new HeartbeatThread{std::move(beat), every}};
    const auto run = [](void* self) -> void* {
        static_cast<HeartbeatThread*>(self)->run();
        return nullptr;
    };
    const int failed = pthread_create(&made->thread_, nullptr, run, made.get());
    if (failed != 0) {
        return Error{Errc::TooMany,
                     std::string{"there is no thread for the heartbeat: "} + std::strerror(failed)};
    }
    made->started_ = true;
    made->come_first();
    return made;
}

void HeartbeatThread::come_first() const {
    sched_param priority{};
    priority.sched_priority = ::sched_get_priority_min(SCHED_FIFO);
    if (const int failed = pthread_setschedparam(thread_, SCHED_FIFO, &priority); failed != 0) {
        log_warn(std::string{"the heartbeat takes its turn among others, and may come late on a "
                             "busy CPU: "} +
                 std::strerror(failed));
    }
}

HeartbeatThread::~HeartbeatThread() {
    if (!started_) {
        return;
    }
    {
        const std::lock_guard lock{mutex_};
        ending_ = true;
    }
    ends_.notify_one();
    (void)pthread_join(thread_, nullptr);
}

void HeartbeatThread::run() {
    std::unique_lock lock{mutex_};
    while (!ends_.wait_for(lock, every_, [this] { return ending_; })) {
        beat_();
    }
}

}  // namespace sluice
