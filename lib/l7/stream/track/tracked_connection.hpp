#pragma once
#include "lib/bucket/pool/pool_line.hpp"
#include "lib/l7/stream/hopscotch_lines.hpp"
#include "lib/l7/stream/track/tcp_window.hpp"
#include "lib/l7/stream/track/tracked_segment.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

enum class TrackPhase : std::uint8_t {
    Free,
    SynSent,      // a client's SYN has been seen, and no answer
    SynReceived,  // the server has acknowledged it
    Established,  // and the client the server's; FINs do not change that
    Reset,        // a RST stands
    BoxReset,     // the box has reset it on both sides
    Midstream,    // its beginning was not seen: only what the server's segments say is known
};

// Classes of connections, each with its own budget and order of age.
enum class TrackClass : std::uint8_t { HalfOpen, Midstream, Closed, Established };
inline constexpr std::size_t kTrackClasses = 4;

// The first number of each side.
struct FirstNumbers {
    std::uint32_t client = 0;
    std::uint32_t server = 0;

    [[nodiscard]] bool operator==(const FirstNumbers&) const noexcept = default;
};

// The server drops bytes of an older timestamp than it has taken (RFC 7323, 5.3), and it has taken
// those that it echoes.
[[nodiscard]] constexpr bool is_too_old(const TrackedSegment& segment,
                                        std::uint32_t echoed) noexcept {
    return (segment.payload != 0 || segment.has(kTcpFin)) && echoed != 0 && segment.timestamps &&
           is_behind(echoed, segment.timestamps->value);
}

// A SYN and the SYN-ACK that acknowledges it. Their windows are not scaled.
struct TrackedHandshake {
    FirstNumbers numbers;
    std::uint16_t client_window = 0;
    std::uint16_t server_window = 0;
    std::uint8_t client_scale : 4 = 0;  // both zero where one side did not offer it
    std::uint8_t server_scale : 4 = 0;
    bool takes_unfinished = false;  // as of the connection
    std::uint32_t echoed = 0;       // as of the connection

    [[nodiscard]] constexpr TcpHalf client() const noexcept {
        return half(numbers.client, server_window);
    }
    [[nodiscard]] constexpr TcpHalf server() const noexcept {
        return half(numbers.server, client_window);
    }

private:
    [[nodiscard]] static constexpr TcpHalf half(std::uint32_t iss, std::uint32_t window) noexcept {
        return {.iss = iss, .next = iss + 1, .una = iss + 1, .edge = iss + 1 + window};
    }
};

// Two lines: all that a segment in the middle of a connection reads lies in the first.
struct alignas(2 * kLineBytes) TrackedConnection {
    // Facts that are true or not.
    static constexpr std::uint16_t kClientLow = 1U << 0;  // the low end is the client
    static constexpr std::uint16_t kOneWay = 1U << 1;     // inbound_only
    static constexpr std::uint16_t kMidstream = 1U << 2;  // taken up without a handshake
    static constexpr std::uint16_t kClientFin = 1U << 3;  // its place is known
    static constexpr std::uint16_t kServerFin = 1U << 4;
    static constexpr std::uint16_t kClientLong = 1U << 5;  // more than 2^30 bytes acknowledged
    static constexpr std::uint16_t kServerLong = 1U << 6;
    static constexpr std::uint16_t kServerReset = 1U << 7;   // the RST that stands is the server's
    static constexpr std::uint16_t kCandidate = 1U << 8;     // a SYN waits for its SYN-ACK
    static constexpr std::uint16_t kCandidates = 1U << 9;    // others did before it
    static constexpr std::uint16_t kAlternate = 1U << 10;    // `alternate` is another handshake, or
                                                             // a newer one beside what stands
    static constexpr std::uint16_t kAlternates = 1U << 11;   // there were more than these two
    static constexpr std::uint16_t kServerKnown = 1U << 12;  // Midstream: a server's segment came
    static constexpr std::uint16_t kEnded = 1U << 13;        // both FINs are acknowledged
    static constexpr std::uint16_t kServerUnheard = kServerKnown;  // Established: nothing of its
                                                                   // server since a restart
    static constexpr std::uint16_t kBeginningSeen = kServerLong;   // Midstream: for want of room
    static constexpr unsigned kMarksAt = 14;                       // of TrackMark, from here on

    std::uint64_t digest = 0;  // of its ends
    std::uint64_t id = 0;
    TcpHalf client;
    TcpHalf server;
    std::uint32_t touched = 0;  // in ticks
    std::uint16_t flags = 0;
    std::uint16_t at_home = 0;  // which of the lines from this one on have their home here
    // Largest windows, in units of the sender's scale; a SYN's is not scaled.
    std::uint16_t client_widest = 0;
    std::uint16_t server_widest = 0;
    std::uint16_t service = kNoService;
    TrackPhase phase : 4 = TrackPhase::Free;
    std::uint8_t protocol : 4 = 0;  // TrackPolicy's, from the time on when it began
    std::uint8_t client_scale : 4 = 0;
    std::uint8_t server_scale : 4 = 0;

    // Seldom read from here on.
    std::uint32_t client_fin = 0;  // number of the FIN
    std::uint32_t server_fin = 0;
    std::uint32_t client_bytes = 0;  // kClientFin: behind all bytes that came, not behind the FIN
    std::uint32_t candidate = 0;     // first number of the last SYN
    std::uint32_t candidate_at = 0;
    TrackedHandshake alternate;
    ConnectionIndex older = kNoConnection;
    ConnectionIndex newer = kNoConnection;
    std::uint32_t listed_at = 0;  // in ticks; when it was moved to the end of its list
    std::uint32_t echoed = 0;     // the client's latest timestamp that the server echoed; 0: none
    std::uint32_t source = 0;     // whom it is accounted to
    std::uint16_t candidate_window = 0;
    std::uint8_t candidate_scale = kNoScale;
    TrackClass listed : 4 = TrackClass::HalfOpen;  // whose list it is in
    bool candidate_unfinished : 1 = false;         // each copy of the last SYN came so
    bool syn_ack_unfinished : 1 = false;           // the last one came so
    bool takes_unfinished : 1 = false;             // the server has answered such a SYN
    bool only_unfinished : 1 = false;              // and all that the client has sent since came so

    static constexpr std::uint8_t kNoScale = 0xFF;

    [[nodiscard]] bool is_free() const noexcept { return phase == TrackPhase::Free; }
    void take() noexcept { phase = TrackPhase::SynSent; }
    void give_up() noexcept { phase = TrackPhase::Free; }
    [[nodiscard]] bool is(std::uint16_t flag) const noexcept { return (flags & flag) != 0; }
    void set(std::uint16_t flag) noexcept { flags = static_cast<std::uint16_t>(flags | flag); }
    void clear(std::uint16_t flag) noexcept { flags = static_cast<std::uint16_t>(flags & ~flag); }

    [[nodiscard]] std::uint8_t marks() const noexcept {
        return static_cast<std::uint8_t>(flags >> kMarksAt);
    }
    [[nodiscard]] bool has_numbers() const noexcept {
        return phase >= TrackPhase::SynReceived && phase != TrackPhase::Midstream;
    }
    [[nodiscard]] TcpHalf& half(bool of_client) noexcept { return of_client ? client : server; }
    [[nodiscard]] const TcpHalf& half(bool of_client) const noexcept {
        return of_client ? client : server;
    }
    [[nodiscard]] bool is_long(bool of_client) const noexcept {
        return is(of_client ? kClientLong : kServerLong);
    }
    [[nodiscard]] std::uint8_t scale_of(bool of_client) const noexcept {
        return of_client ? client_scale : server_scale;
    }
    // The largest window, in bytes, that this side ever offered to the other one.
    [[nodiscard]] std::uint32_t widest_of(bool of_client) const noexcept {
        return of_client ? std::uint32_t{client_widest} << client_scale
                         : std::uint32_t{server_widest} << server_scale;
    }
    [[nodiscard]] FirstNumbers first_numbers() const noexcept { return {client.iss, server.iss}; }
};
static_assert(sizeof(TrackedConnection) == 2 * kLineBytes);
static_assert(offsetof(TrackedConnection, client_fin) == kLineBytes);

}  // namespace sluice
