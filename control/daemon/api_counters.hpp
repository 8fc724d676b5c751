#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace sluice {

// Why connections to the API had no answer to their request, but a refusal at most.
enum class TurnedAway : std::uint8_t { NoRequest, NoPlace, Crowd, Stranger, Token, Web, LivePlace };
inline constexpr std::size_t kTurnedAwayCount = 7;

struct TurnedAwayRow {
    std::string_view name;
    std::string_view help;
};
inline constexpr std::array<TurnedAwayRow, kTurnedAwayCount> kTurnedAway{{
    {"no_request", "no whole head of a request came in time"},
    {"no_place", "the user has as many requests under way as one may have, or all users have"},
    {"crowd", "newer connections of the user came while it waited"},
    {"stranger", "the user may not use the socket"},
    {"token", "by TCP, without the token or with another one"},
    {"web", "to the dashboard, without authority, by a foreign name or from a foreign page"},
    {"no_live_place", "as many pages look at /v1/live as may, of the user or of all"},
}};

class ApiCounters {
public:
    using Counts = std::array<std::uint64_t, kTurnedAwayCount>;

    // True if it is the first for this reason: what is worth a line in the log.
    bool count(TurnedAway why) {
        const std::lock_guard lock{mutex_};
        return ++counts_[static_cast<std::size_t>(why)] == 1;
    }
    [[nodiscard]] Counts read() const {
        const std::lock_guard lock{mutex_};
        return counts_;
    }

private:
    mutable std::mutex mutex_;
    Counts counts_{};
};

}  // namespace sluice
