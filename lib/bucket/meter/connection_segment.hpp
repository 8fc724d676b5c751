#pragma once
#include <array>
#include <cstdint>

// A box's knowledge of a TCP connection between two others, as far as it must to tell when its
// handshake is complete and when it has closed: of each direction, which number its receiver
// expects next.
namespace sluice {

// One end of a connection, by the order of the ends and not by who opened it.
using ConnectionEnd = std::uint8_t;  // 0 or 1

// A segment that a limit of open connections is asked about.
struct ConnectionStart {
    enum class Kind : std::uint8_t {
        Opens,      // a SYN
        Completes,  // an ACK that may complete the handshake
    };
    std::uint64_t digest = 0;  // keyed, of the connection, the same in both directions
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;  // of one that completes
    ConnectionEnd from = 0;
    Kind kind = Kind::Opens;
};

struct ConnectionSegment {
    std::uint64_t digest = 0;
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;
    std::uint32_t payload = 0;
    ConnectionEnd from = 0;
    bool has_ack = false;
    bool syn = false;
    bool fin = false;
    bool rst = false;
    // The sender is on the inside: nobody outside sends in its name.
    bool from_inside = false;
    // The receiver may get it, or may not: a fragment, a TTL that may end on the way.
    bool is_uncertain = false;
    // An RST of the box in its sender's name, which answers what its receiver says to it.
    bool is_made_here = false;
    // An RST from outside with timestamps, by which its receiver may drop it before the handshake
    // is complete (RFC 7323, 5.3).
    bool is_stamped = false;
    // A tracker that drops what the end inside would not take follows the connection, and says
    // whether the RST ends it.
    bool is_tracked = false;
    bool ends = false;
};

// A connection has closed when both ends' FINs have passed, each behind everything that its end has
// sent, or an RST that its receiver takes: with the very number that it expects (RFC 5961, 3.2), by
// what has passed or by its latest acknowledgment; of an end outside, by the latter, and not while
// it may have moved since. A FIN ahead of a gap counts once the gap is filled. Numbers that its
// receiver does not expect close nothing, so that nobody lets go of a place whose connection stays
// open at the other end.
//
// Whoever sends in the name of the end outside, and knows the ends but not the numbers, changes
// nothing: of that end only what lies in its window counts, and what acknowledges bytes that the
// end inside may have sent.
class ConnectionSequence {
public:
    void begin(const ConnectionStart& start) noexcept;
    // Another SYN between its ends: the next connection begins when the other end takes it, as its
    // acknowledgment says. Until then this one goes on.
    void begin_again(const ConnectionStart& start) noexcept {
        restart_ = start.seq + 1;
        restarts_ = static_cast<std::uint8_t>(1U << (start.from & 1U));
    }

    enum class Seen : std::uint8_t {
        Ignored,    // of no connection that its receiver knows
        Followed,   // the connection goes on
        Restarted,  // the next connection between its ends has begun
        Finished,
        Reset,
        Uncertain,  // its receiver may take bytes of it, or may not
        Doubted,    // an RST from outside at the number that its receiver has acknowledged, behind
                    // which bytes are on their way
        DoubtedForLonger,  // the same behind uncertain ones, or a stamped one of a connection that
                           // is half open
    };
    [[nodiscard]] Seen add(const ConnectionSegment& segment) noexcept;

    // The end that opened the connection has acknowledged the other one's number, if the segment is
    // its.
    [[nodiscard]] bool completes(ConnectionEnd from, std::uint32_t seq,
                                 std::uint32_t ack) const noexcept;
    // The end inside has acknowledged bytes of the one that opened it, whose handshake it therefore
    // holds for complete, however they came.
    [[nodiscard]] bool has_taken_bytes() const noexcept { return (state_ & kTaken) != 0; }
    [[nodiscard]] bool is_established() const noexcept { return (state_ & kEstablished) != 0; }
    void establish() noexcept { state_ |= kEstablished; }

private:
    struct Way {
        std::uint32_t next = 0;     // behind what has passed without a gap
        std::uint32_t acked = 0;    // the latest number that its receiver has acknowledged
        std::uint32_t highest = 0;  // behind all that has passed
    };
    // The distance that a segment can be behind, or ahead of, what its receiver has acknowledged:
    // more than a window has in practice, and a small part of all numbers.
    static constexpr std::int32_t kMostBehind = std::int32_t{1} << 20;
    static constexpr std::int32_t kMostAhead = std::int32_t{1} << 26;
    // No window is larger: a receiver takes bytes with an acknowledgment as far behind.
    static constexpr std::int32_t kWidestWindow = std::int32_t{1} << 30;
    static constexpr std::uint8_t kOpener = 1;  // the end that opened it
    static constexpr std::uint8_t kEstablished = 2;
    static constexpr std::uint8_t kUncertain = 4;  // bytes came that its receiver may have taken
    static constexpr std::uint8_t kTaken = 8;

    [[nodiscard]] static std::int32_t distance(std::uint32_t from, std::uint32_t to) noexcept {
        return static_cast<std::int32_t>(to - from);
    }
    [[nodiscard]] static std::uint8_t bit_of(unsigned end) noexcept {
        return static_cast<std::uint8_t>(1U << end);
    }
    [[nodiscard]] bool knows(unsigned end) const noexcept { return (known_ >> end & 1U) != 0; }
    [[nodiscard]] unsigned opener() const noexcept { return state_ & kOpener; }
    void learn(unsigned end, std::uint32_t next) noexcept {
        ways_[end] = {.next = next, .acked = next, .highest = next};
        known_ |= bit_of(end);
    }
    [[nodiscard]] Seen add_rst(const ConnectionSegment& segment) const noexcept;
    [[nodiscard]] Seen add_uncertain(const ConnectionSegment& segment) noexcept;
    void note_fast_open(const ConnectionSegment& segment) noexcept;
    void note_taken(const ConnectionSegment& segment) noexcept;
    void note_ack(unsigned other, std::uint32_t ack) noexcept;
    void note_bytes(unsigned end, const ConnectionSegment& segment) noexcept;
    void note_fin(unsigned end) noexcept;
    // A SYN-ACK that the end has sent before, again.
    [[nodiscard]] bool is_repeated(const ConnectionSegment& segment) const noexcept;
    // The server has sent nothing yet: what it sends first acknowledges the SYN.
    [[nodiscard]] bool takes_restart(const ConnectionSegment& segment) const noexcept {
        return segment.has_ack && segment.ack == restart_ &&
               (restarts_ >> ((segment.from & 1U) ^ 1U) & 1U) != 0;
    }
    [[nodiscard]] bool answers(const ConnectionSegment& segment) const noexcept;
    [[nodiscard]] bool is_in_window(unsigned end, std::uint32_t seq) const noexcept;
    [[nodiscard]] bool is_plausible(const ConnectionSegment& segment) const noexcept;
    [[nodiscard]] bool is_late_at_next(const ConnectionSegment& segment) const noexcept;

    std::array<Way, 2> ways_{};
    std::uint32_t restart_ = 0;  // what takes the latest further SYN acknowledges
    std::uint8_t restarts_ = 0;  // a bit for the end that has sent it
    std::uint8_t known_ = 0;     // a bit for each end of which a number is known
    std::uint8_t fins_ = 0;  // a bit for each whose FIN has been seen; two bits on, in its place
    std::uint8_t state_ = 0;
};

}  // namespace sluice
