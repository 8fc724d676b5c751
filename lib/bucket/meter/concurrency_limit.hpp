#pragma once
#include "lib/bucket/meter/window_limit.hpp"

// How many connections of a key may be open at once. One of which no packet has been seen for the
// time `idle` is open no more; while its handshake is not complete, for the time `half_open`.
namespace sluice {

// The segment of a connection that is admitted or refused; the connection counts from then on.
enum class CountedFrom : std::uint8_t {
    Syn,          // the first one
    Established,  // the client's, by which the handshake is complete: it acknowledges the server's
                  // number, which nobody knows who does not get what the server sends
};

inline constexpr Nanoseconds kUsualHalfOpen = std::chrono::seconds{60};
inline constexpr Nanoseconds kLongestHalfOpen = std::chrono::hours{24};

struct ConcurrencyLimit {
    WindowNumbers numbers;  // the window is `idle`
    std::uint32_t half_open_ms = 1;
    CountedFrom from = CountedFrom::Syn;
    [[nodiscard]] Nanoseconds longest_debt() const noexcept { return Nanoseconds{numbers.window}; }
    [[nodiscard]] bool operator==(const ConcurrencyLimit&) const noexcept = default;
    [[nodiscard]] Result<ConcurrencyLimit> checked() const;
    static void fields(auto& archive, auto& m) {
        archive(m.numbers, m.half_open_ms);
        archive.word(m.from, CountedFrom::Established);
    }
};

// Like make_window_numbers(); errors (OutOfRange) name `count`, `idle` or `half_open`, which is a
// whole number of ms and at most `idle`.
[[nodiscard]] Result<ConcurrencyLimit> make_concurrency(Units count, Nanoseconds idle,
                                                        Nanoseconds half_open,
                                                        CountedFrom from = CountedFrom::Syn);
// The value of `half_open` unless it is given: kUsualHalfOpen, or `idle` where that is shorter.
[[nodiscard]] Nanoseconds usual_half_open(Nanoseconds idle) noexcept;

}  // namespace sluice
