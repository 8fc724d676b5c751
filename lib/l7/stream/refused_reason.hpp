#pragma once
#include "lib/l7/stream/connection_event.hpp"
#include "lib/l7/stream/stream_offer.hpp"
#include "lib/l7/stream/unread_reason.hpp"
#include "lib/packet/verdict.hpp"

#include <array>
#include <cstddef>

namespace sluice {

struct RefusedRow {
    RefusedWhy why;
    Reason reason;        // that people are told where a stream cannot be read on
    UnreadReason unread;  // that is counted where its connection goes unread instead
};
inline constexpr auto kRefusedRows = std::to_array<RefusedRow>({
    {RefusedWhy::None, Reason::LostHead, UnreadReason::Doubtful},
    {RefusedWhy::Full, Reason::NoHeadRoom, UnreadReason::NoRoom},
    {RefusedWhy::SourceShare, Reason::NoHeadRoom, UnreadReason::NoRoom},
    {RefusedWhy::HeadTooLong, Reason::HeadTooLong, UnreadReason::TooLong},
    {RefusedWhy::TooManyPieces, Reason::TooManyPieces, UnreadReason::TooLong},
    {RefusedWhy::OutOfReach, Reason::LostHead, UnreadReason::Gap},
    {RefusedWhy::HeadForgotten, Reason::LostHead, UnreadReason::Doubtful},
    {RefusedWhy::MissedSome, Reason::Midstream, UnreadReason::Gap},
    {RefusedWhy::Unheard, Reason::LostHead, UnreadReason::Doubtful},
    {RefusedWhy::Unreadable, Reason::Unreadable, UnreadReason::Doubtful},
});
static_assert([] {
    for (std::size_t i = 0; i < kRefusedRows.size(); ++i) {
        if (kRefusedRows[i].why != static_cast<RefusedWhy>(i)) {
            return false;
        }
    }
    return kRefusedRows.back().why == RefusedWhy::Unreadable;
}());

[[nodiscard]] constexpr Reason reason_of(RefusedWhy why) noexcept {
    return kRefusedRows[static_cast<std::size_t>(why)].reason;
}
[[nodiscard]] constexpr UnreadReason unread_for(RefusedWhy why) noexcept {
    return kRefusedRows[static_cast<std::size_t>(why)].unread;
}
// The same of a connection whose half head was given up.
[[nodiscard]] constexpr UnreadReason unread_for(ConnectionEvent given_up) noexcept {
    return given_up == ConnectionEvent::HalfHeadTimeout ? UnreadReason::TooSlow
           : given_up == ConnectionEvent::HeadTooLong   ? UnreadReason::TooLong
                                                        : UnreadReason::NoRoom;
}

}  // namespace sluice
