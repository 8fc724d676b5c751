#pragma once
#include "lib/base/now.hpp"

#include <cstdint>

namespace sluice {

// A worker's host without a thread (WorkerHost): its owner says what time it is, and has turns
// taken one by one (Worker::poll()). Worker::run() does nothing under it but what is done at the
// end.
class MemoryHost {
public:
    struct ReadTicks {
        std::uint64_t operator()() const noexcept { return 0; }
    };

    // `clock` outlives it, and never goes back.
    explicit MemoryHost(const Now& clock) noexcept : clock_{&clock} {}

    [[nodiscard]] Now now() const noexcept { return *clock_; }
    void begin() const noexcept {}
    [[nodiscard]] bool stopped() const noexcept { return true; }
    void pass() const noexcept {}
    void rest(unsigned /*idle_turns*/) const noexcept {}
    void end() const noexcept {}

private:
    const Now* clock_;
};

}  // namespace sluice
