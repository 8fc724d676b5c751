#pragma once
#include "lib/share/word.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace sluice {

// "replay: 42 % of 1.2 GiB, 12 s, about 17 s left"; where `whole` is 0, how much of it is done is
// not known: "apply: 12 s", or "replay: 3.0 MiB, 12 s".
[[nodiscard]] std::string progress_text(std::string_view what, std::uint64_t done,
                                        std::uint64_t whole, std::chrono::seconds passed);

// Shows how far a work is that takes longer than a second: one line of standard error, only where
// that is a terminal, and gone when the work has ended.
class LongWork {
public:
    // Nothing is shown beside a standard output that shows the work itself.
    enum class Beside : std::uint8_t { AnyOutput, OutputElsewhere };

    // `whole`: bytes; 0 where nobody knows.
    explicit LongWork(std::string what, std::uint64_t whole = 0, Beside beside = Beside::AnyOutput);
    ~LongWork();
    LongWork(const LongWork&) = delete;
    LongWork& operator=(const LongWork&) = delete;

    void add(std::uint64_t bytes) noexcept { store_word(done_, done_ + bytes); }

private:
    void show(const std::stop_token& stop);

    std::string what_;
    std::uint64_t whole_;
    std::uint64_t done_ = 0;  // written by whoever works
    std::mutex mutex_;
    std::condition_variable_any ended_;
    std::jthread shows_;
};

// The bytes of a capture to read; 0 where it is a stream.
[[nodiscard]] std::uint64_t capture_size(const std::string& path);

}  // namespace sluice
