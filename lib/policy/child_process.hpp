#pragma once
#include "lib/base/bytes.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <sys/time.h>

// Work that may run forever or crash, such as a library that reads what strangers wrote, is done in
// a child process: the kernel ends it when its time is used up, and the caller always gets an
// answer.
namespace sluice {

// The child's end of the pipe to its parent.
class ChildOutput {
public:
    explicit ChildOutput(int pipe) noexcept : pipe_{pipe} {}

    // Ends the child where the parent no longer reads.
    void put(ByteView bytes) const noexcept;

private:
    int pipe_;
};

// A child that neither writes nor computes for so long waits for what never comes: the lock of a
// library, for one, whose holder is no thread of the child.
inline constexpr std::chrono::milliseconds kMostIdle{10'000};

// Runs `work` in a child process and returns everything that it wrote until it ended, however it
// ended; at most `most` bytes. A child that is idle for `idle` is killed. nullopt: there is no
// process, or no memory, for it.
[[nodiscard]] std::optional<std::vector<std::byte>> run_in_child(
    const std::function<void(const ChildOutput&)>& work, std::size_t most,
    std::chrono::milliseconds idle = kMostIdle);

// Within `work`: the child ends after so much time. ITIMER_PROF counts processor time.
void set_timer(__itimer_which which, std::uint64_t micros) noexcept;
[[nodiscard]] std::uint64_t left_of_timer(__itimer_which which) noexcept;
// Real time is ten times as much, for a child that waits and does nothing.
inline constexpr std::uint64_t kRealTimeFactor = 10;

}  // namespace sluice
