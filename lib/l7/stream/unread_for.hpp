#pragma once
#include "lib/l7/stream/connection_event.hpp"
#include "lib/l7/stream/stream_offer.hpp"

namespace sluice {

// The reason that is counted where a connection goes unread instead of being refused, or since its
// half head was given up.
[[nodiscard]] constexpr UnreadReason unread_for(RefusedWhy why) noexcept {
    switch (why) {
        case RefusedWhy::Full:
        case RefusedWhy::SourceShare:
            return UnreadReason::NoRoom;
        case RefusedWhy::HeadTooLong:
        case RefusedWhy::TooManyPieces:
            return UnreadReason::TooLong;
        case RefusedWhy::OutOfReach:
        case RefusedWhy::MissedSome:
            return UnreadReason::Gap;
        default:
            return UnreadReason::Doubtful;
    }
}
[[nodiscard]] constexpr UnreadReason unread_for(ConnectionEvent given_up) noexcept {
    return given_up == ConnectionEvent::HalfHeadTimeout ? UnreadReason::TooSlow
           : given_up == ConnectionEvent::HeadTooLong   ? UnreadReason::TooLong
                                                        : UnreadReason::NoRoom;
}

}  // namespace sluice
