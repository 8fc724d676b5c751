#pragma once
#include "lib/base/kept_zone.hpp"
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"

#include <algorithm>
#include <cstdint>

// The numbers of the counting algorithms: so many units in a window. Each is checked once, by
// its make function, whose errors (OutOfRange) name the nearest numbers that fit; checked() is the
// same for numbers that came over the wire. fields() names them to its archives.
namespace sluice {

inline constexpr Nanoseconds kShortestWindow = std::chrono::milliseconds{1};
inline constexpr Nanoseconds kLongestWindow = std::chrono::hours{24 * 366};
static_assert(2 * kLongestWindow < kLongestDebt, "what a window holds may count in the next one");
inline constexpr Nanoseconds kShortestSubWindow = std::chrono::microseconds{1};
inline constexpr std::uint32_t kMostSubWindows = 3600;
inline constexpr std::uint64_t kMostCount = std::uint64_t{1} << 62;

// 1 <= count <= kMostCount and kShortestWindow <= window <= kLongestWindow.
struct WindowNumbers {
    std::uint64_t count = 1;
    std::int64_t window = 1;  // ns
    [[nodiscard]] bool operator==(const WindowNumbers&) const noexcept = default;
    [[nodiscard]] Result<WindowNumbers> checked() const;
    static void fields(auto& archive, auto& m) { archive(m.count, m.window); }
};
[[nodiscard]] Result<WindowNumbers> make_window_numbers(Units count, Nanoseconds window);

// The time by which windows are numbered that no clock on the wall begins.
enum class WindowClock : std::uint8_t {
    Instants,  // the box's own, which nobody sets
    Utc,       // boxes that count together number them alike (Now::window_time)
};

// When the windows of a fixed window begin.
enum class WindowPhase : std::uint8_t {
    Clock,   // aligned to UTC plus an offset
    First,   // with the key's first unit
    PerKey,  // at an offset drawn from the key's hash
};

struct FixedWindowLimit {
    WindowNumbers numbers;
    WindowPhase phase = WindowPhase::Clock;
    std::int64_t utc_offset = 0;                // ns, Clock only; less than a day either way
    WindowClock clock = WindowClock::Instants;  // of PerKey; Utc: in whole us
    [[nodiscard]] bool operator==(const FixedWindowLimit&) const noexcept = default;
    [[nodiscard]] bool is_by_utc() const noexcept {
        return phase == WindowPhase::Clock || clock == WindowClock::Utc;
    }
    [[nodiscard]] Result<FixedWindowLimit> checked() const;
    static void fields(auto& archive, auto& m) {
        archive(m.numbers);
        archive.word(m.phase, WindowPhase::PerKey);
        archive(m.utc_offset);
        archive.word(m.clock, WindowClock::Utc);
    }
};
[[nodiscard]] Result<FixedWindowLimit> make_fixed_window(WindowNumbers numbers, WindowPhase phase,
                                                         Nanoseconds utc_offset);

// Fixed windows of whole days by the clocks of a zone, from one midnight there to another: hours
// longer or shorter where those clocks are set.
struct DayWindowLimit {
    WindowNumbers numbers;
    KeptZone zone;
    [[nodiscard]] bool operator==(const DayWindowLimit&) const noexcept = default;
    [[nodiscard]] Result<DayWindowLimit> checked() const;
    static void fields(auto& archive, auto& m) { archive(m.numbers, m.zone); }
};
[[nodiscard]] Result<DayWindowLimit> make_day_window(WindowNumbers numbers, KeptZone zone);

// Two weighted counters.
struct SlidingWindowLimit {
    WindowNumbers numbers;
    WindowClock clock = WindowClock::Instants;
    [[nodiscard]] bool operator==(const SlidingWindowLimit&) const noexcept = default;
    [[nodiscard]] bool is_by_utc() const noexcept { return clock == WindowClock::Utc; }
    // Of windows by UTC for one of them longer than they count: it may be set back.
    [[nodiscard]] Nanoseconds longest_debt() const noexcept {
        const Nanoseconds window{numbers.window};
        return is_by_utc() ? std::min(3 * window, kLongestDebt) : 2 * window;
    }
    static void fields(auto& archive, auto& m) {
        archive(m.numbers);
        archive.word(m.clock, WindowClock::Utc);
    }
};

enum class Edge : std::uint8_t { Strict, Lenient };

// `buckets` sub-windows: 1 to kMostSubWindows, each at least kShortestSubWindow long.
struct SlidingCountersLimit {
    WindowNumbers numbers;
    std::uint32_t buckets = 60;
    Edge edge = Edge::Strict;
    [[nodiscard]] bool operator==(const SlidingCountersLimit&) const noexcept = default;
    [[nodiscard]] Result<SlidingCountersLimit> checked() const;
    static void fields(auto& archive, auto& m) {
        archive(m.numbers, m.buckets);
        archive.word(m.edge, Edge::Lenient);
    }
};
[[nodiscard]] Result<SlidingCountersLimit> make_sliding_counters(WindowNumbers numbers,
                                                                 std::uint32_t buckets, Edge edge);

struct SlidingLogLimit {
    WindowNumbers numbers;
    [[nodiscard]] bool operator==(const SlidingLogLimit&) const noexcept = default;
    static void fields(auto& archive, auto& m) { archive(m.numbers); }
};

}  // namespace sluice
