#pragma once
#include "lib/share/published.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace sluice {

// In the place of the dataplane's board: a worker has passed the boundary between two turns when it
// has counted one turn more than was under way.
class QuiesceBoard {
public:
    // Worker: after each turn.
    void quiescent() noexcept { turns_.fetch_add(1, std::memory_order_release); }
    // Waits for a worker in another thread.
    [[nodiscard]] GracePeriod wait() const noexcept {
        const std::uint64_t mark = turns_.load(std::memory_order_acquire) + 2;
        while (turns_.load(std::memory_order_acquire) < mark) {
            std::this_thread::yield();
        }
        return {};
    }
    // Workers that take their turns in the thread that publishes are at nothing between two of
    // them.
    [[nodiscard]] static GracePeriod between_turns() noexcept { return {}; }

private:
    std::atomic<std::uint64_t> turns_{0};
};

}  // namespace sluice
