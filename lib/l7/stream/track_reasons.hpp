#pragma once
#include "lib/l7/stream/track/track_reason.hpp"
#include "lib/packet/verdict.hpp"

namespace sluice {

// The reason that rules and operators know a tracker's refusal by.
[[nodiscard]] constexpr Reason reason_of(TrackReason reason) noexcept {
    switch (reason) {
        case TrackReason::ChecksumWrong:
            return Reason::WrongChecksum;
        case TrackReason::Fragment:
            return Reason::TcpFragment;
        case TrackReason::NoAck:
        case TrackReason::AckUnsent:
        case TrackReason::AckTooOld:
            return Reason::BadAck;
        case TrackReason::BeyondWindow:
        case TrackReason::OutOfWindow:
            return Reason::OutOfWindow;
        case TrackReason::ResetOutOfWindow:
        case TrackReason::ResetOptions:
            return Reason::RstOutOfWindow;
        case TrackReason::Options:
        case TrackReason::OldTimestamp:
            return Reason::DoubtfulOptions;
        case TrackReason::BehindFin:
        case TrackReason::FinMoved:
        case TrackReason::BehindReset:
            return Reason::BehindEnd;
        case TrackReason::Midstream:
        case TrackReason::MidstreamReset:
            return Reason::Midstream;
        default:
            return Reason::BadHandshake;
    }
}

}  // namespace sluice
