#pragma once
#include "lib/l7/stream/stream_offer.hpp"
#include "lib/packet/verdict.hpp"

namespace sluice {

// The reason that people are told where a stream cannot be read on.
[[nodiscard]] constexpr Reason reason_of(RefusedWhy why) noexcept {
    switch (why) {
        case RefusedWhy::Full:
        case RefusedWhy::SourceShare:
            return Reason::NoHeadRoom;
        case RefusedWhy::HeadTooLong:
            return Reason::HeadTooLong;
        case RefusedWhy::MissedSome:
            return Reason::Midstream;
        case RefusedWhy::Unreadable:
            return Reason::Unreadable;
        case RefusedWhy::TooManyPieces:
            return Reason::TooManyPieces;
        default:
            return Reason::LostHead;
    }
}

}  // namespace sluice
