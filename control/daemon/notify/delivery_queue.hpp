#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace sluice {

// The notices that wait for one webhook, which are sent one after the other in their order.
// Bounded: the oldest goes for the newest, since the newest says how things are now. Those that are
// sent once have places of their own, and nothing else goes for them.
class DeliveryQueue {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMost = 128;
    static constexpr std::size_t kMostOnce = 4;
    static constexpr unsigned kMostAttempts = 8;
    static constexpr std::chrono::seconds kFirstGap{1};  // doubled from one to the next
    static constexpr std::chrono::seconds kLongestGap{60};

    struct Waiting {
        std::string id;
        std::string body;
        unsigned attempts = 0;  // that were made
        Clock::time_point due{};
        bool once = false;  // it is not tried again
    };
    enum class Outcome : std::uint8_t { Sent, TryAgain, Refused };

    // Behind all others; one that is sent `once`, before all others that are not under way.
    void push(Waiting notice);
    // The notice whose turn it is, which is under way from now on; nullptr: none is due, or one is
    // under way already.
    [[nodiscard]] const Waiting* begin(Clock::time_point now) noexcept;
    // The end of the attempt that is under way.
    void end(Outcome outcome, Clock::time_point now);
    // When the next one is due; nullopt: none waits, or one is under way.
    [[nodiscard]] std::optional<Clock::time_point> due() const noexcept;

    struct Counts {
        std::uint64_t sent = 0;
        std::uint64_t failed = 0;   // given up: refused for good, or tried often enough
        std::uint64_t dropped = 0;  // for newer ones
        std::uint64_t retried = 0;  // attempts after the first
    };
    [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
    [[nodiscard]] std::size_t size() const noexcept { return notices_.size(); }
    [[nodiscard]] bool is_under_way() const noexcept { return under_way_; }

private:
    void make_room(bool once);

    std::deque<Waiting> notices_;
    bool under_way_ = false;  // the first one
    Counts counts_;
};

}  // namespace sluice
