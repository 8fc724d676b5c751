#pragma once
#include "lib/l7/stream/track/track_reason.hpp"
#include "lib/l7/stream/track/tracked_segment.hpp"

#include <cstdint>

namespace sluice {

// Findings of the tracker's user about a connection, kept with it for as long as it lasts.
enum class TrackMark : std::uint8_t {
    Unreadable = 1,  // what its client goes on with nobody can read
    Upgraded = 2,    // the server has agreed to another protocol
};

// Bytes of a client on a connection whose beginning nobody saw.
enum class ClientBytes : std::uint8_t {
    BeginNone,  // no request begins with the first of them
    Begin,      // a whole one does, or they go on with one that is read
    BeginHalf,  // one begins there, or behind what begins none, and is not whole
};

struct TrackVerdict {
    enum class Kind : std::uint8_t {
        Untracked,  // of no service: none of the tracker's business
        Pass,
        Drop,
        Reset,    // Drop, and its sender may be answered by <SEQ=SEG.ACK><CTL=RST>: no connection
                  // of these numbers stands any more, or it is to end
        Inspect,  // of a connection that nobody knows: settle_midstream() decides, once the reader
                  // has said whether a request begins there
    };
    Kind kind = Kind::Untracked;
    TrackReason reason = TrackReason::None;
    bool clear_urgent = false;
    bool clear_options = false;
    bool raise_ttl = false;
    bool is_probe = false;  // it goes on without bytes, its number one of long ago
    bool from_client = false;
    bool readable = false;      // the receiver may take bytes of it: those from `take_from` on
    bool midstream = false;     // its beginning was not seen
    bool established = false;   // the client has acknowledged the server's number: never with
                                // inbound_only, and never before a midstream one is taken up
    bool began = false;         // this segment completes the handshake, or revives the connection
    bool ended = false;         // this segment ends it, or with id 0 its handshake
    bool ends_revived = false;  // its server went on behind a RST of its client, and is reset
    // A server has acknowledged a client's bytes that came unfinished, and not otherwise: the first
    // of its connection. A client has answered an unfinished SYN-ACK.
    bool client_sums_proven = false;
    bool server_sums_proven = false;
    std::uint32_t proven_by = 0;  // client_sums_proven: TrackedSegment::source of the client
    std::uint8_t marks = 0;       // of TrackMark
    std::uint16_t service = kNoService;
    std::uint64_t id = 0;            // this very connection; 0: not known
    std::uint64_t replaced = 0;      // the one whose ports the server took into use again, else 0
    std::uint32_t first = 0;         // number of the client's first byte, where id is known
    std::uint32_t take_from = 0;     // all before it the receiver has acknowledged
    bool is_server_unheard = false;  // nothing has come of the server since an earlier process
                                     // ended: it may have acknowledged more than that
    std::uint32_t sent = 0;          // behind all that the client had sent before it
    bool is_next = false;            // it begins at `take_from`, which its receiver alone moves
    bool may_miss_some = false;      // a receiver that nobody watched from the beginning may have
                                     // bytes that lie ahead of it
    bool is_long = false;            // its client's first number is a later byte's by now
    bool client_ends = false;        // its client's FIN stands, at `client_fin`
    std::uint32_t client_fin = 0;

    [[nodiscard]] constexpr bool forwards() const noexcept {
        return kind == Kind::Untracked || kind == Kind::Pass;
    }
    [[nodiscard]] constexpr bool has(TrackMark mark) const noexcept {
        return (marks & static_cast<std::uint8_t>(mark)) != 0;
    }
};

}  // namespace sluice
