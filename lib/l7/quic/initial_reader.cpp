#include "lib/l7/quic/initial_reader.hpp"

#include "lib/l7/quic/datagram.hpp"
#include "lib/l7/quic/initial_frames.hpp"

namespace sluice {
namespace {

// The outcome of the frames of an Initial and the stream behind them.
QuicHelloOutcome hello_outcome(const InitialFrames& frames, const CryptoStream& stream,
                               const HelloRead& read) noexcept {
    if (!frames.allowed) {
        return QuicHelloOutcome::BadFrame;
    }
    if (frames.differs) {
        return QuicHelloOutcome::Differs;
    }
    switch (read.outcome) {
        case HelloOutcome::Whole:
            return QuicHelloOutcome::Whole;
        case HelloOutcome::OtherHandshake:
            return QuicHelloOutcome::OtherHandshake;
        case HelloOutcome::Malformed:
            return QuicHelloOutcome::Malformed;
        default:
            break;
    }
    if (frames.too_many_pieces) {
        return QuicHelloOutcome::TooManyPieces;
    }
    if (frames.beyond_room || read.at > stream.room()) {
        return QuicHelloOutcome::BeyondRoom;
    }
    return stream.empty() ? QuicHelloOutcome::NoCrypto : QuicHelloOutcome::NeedMore;
}

bool goes_on(QuicHelloOutcome outcome) noexcept {
    return outcome == QuicHelloOutcome::NeedMore || outcome == QuicHelloOutcome::NoCrypto ||
           outcome == QuicHelloOutcome::Whole;
}

void read_payload(ByteView payload, CryptoStream& stream, ClientHello& hello,
                  QuicHelloRead& result) noexcept {
    const InitialFrames frames = read_initial_frames(payload, stream);
    const HelloRead read = read_client_hello(stream.contiguous(), hello);
    result.outcome = hello_outcome(frames, stream, read);
    result.fault = read.fault;
    result.closes = result.closes || frames.closes;
}

}  // namespace

QuicHelloRead InitialReader::read(ByteView datagram, CryptoStream& stream, InitialBudget& budget,
                                  ClientHello& hello) noexcept {
    QuicPacket first;
    if (!QuicPackets{datagram}.next(first)) {
        return {};
    }
    return read_on(datagram, ConnectionId{first.dcid}, stream, budget, hello);
}

// A packet that does not authenticate is left out, as its receiver leaves it out; those behind it
// count, also behind a whole hello: the packet that completed it may be one that its receiver
// drops.
QuicHelloRead InitialReader::read_on(ByteView datagram, const ConnectionId& client_dcid,
                                     CryptoStream& stream, InitialBudget& budget,
                                     ClientHello& hello) noexcept {
    QuicHelloRead result{.client_dcid = client_dcid};
    QuicPackets packets{datagram};
    std::size_t opened = 0;
    bool wants_more = true;
    for (QuicPacket packet; wants_more && packets.next(packet);) {
        if (!packet.can_open()) {
            continue;
        }
        if (opened == kMaxInitials || !budget.take()) {
            result.outcome = opened == kMaxInitials ? QuicHelloOutcome::TooManyInitials
                                                    : QuicHelloOutcome::OverBudget;
            return result;
        }
        ++opened;
        result.version = packet.version;
        if (const auto payload = opener_.open(packet, client_dcid.bytes())) {
            ++result.opened;
            read_payload(*payload, stream, hello, result);
            wants_more = goes_on(result.outcome);
        } else {
            result.has_unopened = true;
            result.closes = result.closes || result.outcome == QuicHelloOutcome::Whole;
            if (!goes_on(result.outcome)) {
                result.outcome = QuicHelloOutcome::NotAuthentic;
            }
        }
    }
    return result;
}

}  // namespace sluice
