#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The protocol of a connection's units, as far as any was read.
enum class UnreadProtocol : std::uint8_t { None, Http, Tls, Dns };
inline constexpr auto kUnreadProtocols =
    std::to_array<std::string_view>({"none", "http", "tls", "dns"});

// The doubt from which on a connection goes unread.
enum class UnreadReason : std::uint8_t {
    Other,
    Doubtful,
    Differs,
    Gap,
    Missed,
    TooLong,
    TooSlow,
    NoRoom,
    Ended,
};

struct UnreadReasonRow {
    UnreadReason reason;
    std::string_view name;
    std::string_view help;
};
inline constexpr auto kUnreadReasons = std::to_array<UnreadReasonRow>({
    {UnreadReason::Other, "other", "bytes that are none of the protocol's"},
    {UnreadReason::Doubtful, "doubtful",
     "malformed, or servers may disagree where it ends, or more units than a packet has room for"},
    {UnreadReason::Differs, "differs", "other bytes in the place of those that came first"},
    {UnreadReason::Gap, "gap", "bytes ahead of, or before, what can be read in order"},
    {UnreadReason::Missed, "missed", "packets may have passed that no rule read"},
    {UnreadReason::TooLong, "too_long", "a head of more bytes or pieces than are held"},
    {UnreadReason::TooSlow, "too_slow", "a head that took too long"},
    {UnreadReason::NoRoom, "no_room", "no room for a half head, or it made room for another"},
    {UnreadReason::Ended, "ended", "of a service: a request that ends its connection"},
});
static_assert([] {
    for (std::size_t i = 0; i < kUnreadReasons.size(); ++i) {
        if (kUnreadReasons[i].reason != static_cast<UnreadReason>(i)) {
            return false;
        }
    }
    return true;
}());

// Counters by both: those of a protocol side by side.
inline constexpr std::size_t kUnreadKinds = kUnreadProtocols.size() * kUnreadReasons.size();
[[nodiscard]] constexpr std::size_t unread_kind(UnreadProtocol protocol,
                                                UnreadReason reason) noexcept {
    return static_cast<std::size_t>(protocol) * kUnreadReasons.size() +
           static_cast<std::size_t>(reason);
}

}  // namespace sluice
