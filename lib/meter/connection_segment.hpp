#pragma once
#include <array>
#include <cstdint>

// What a box knows of a TCP connection between two others, as far as it must to tell when it has
// closed: of each direction, which number its receiver expects next.
namespace sluice {

// One end of a connection, by the order of the ends and not by who opened it.
using ConnectionEnd = std::uint8_t;  // 0 or 1

// A SYN that may open a connection.
struct ConnectionStart {
    std::uint64_t digest = 0;  // keyed, of the 5-tuple, the same in both directions
    std::uint32_t seq = 0;
    ConnectionEnd from = 0;
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
};

// A connection has closed when both ends' FINs have passed, each behind everything that its end has
// sent, or an RST that its receiver takes: with the very number that it expects (RFC 5961, 3.2), by
// what has passed or by its latest acknowledgment. Numbers that its receiver does not expect close
// nothing, so that nobody lets go of a place whose connection stays open at the other end.
class ConnectionSequence {
public:
    void begin(const ConnectionStart& start) noexcept {
        *this = {};
        Way& client = ways_[start.from & 1U];
        client = {.next = start.seq + 1, .acked = start.seq + 1};
        known_ = static_cast<std::uint8_t>(1U << (start.from & 1U));
    }
    // Another SYN between its ends: the next connection begins when the other end takes it, as its
    // acknowledgment says. Until then this one goes on.
    void begin_again(const ConnectionStart& start) noexcept {
        restart_ = start.seq + 1;
        restarts_ = static_cast<std::uint8_t>(1U << (start.from & 1U));
    }

    enum class Closed : std::uint8_t { No, Finished, Reset };
    [[nodiscard]] Closed add(const ConnectionSegment& segment) noexcept;

private:
    struct Way {
        std::uint32_t next = 0;   // behind what has passed without a gap
        std::uint32_t acked = 0;  // the latest number that its receiver has acknowledged
    };
    [[nodiscard]] static std::int32_t distance(std::uint32_t from, std::uint32_t to) noexcept {
        return static_cast<std::int32_t>(to - from);
    }
    [[nodiscard]] bool knows(unsigned end) const noexcept { return (known_ >> end & 1U) != 0; }
    void learn(unsigned end, std::uint32_t next) noexcept {
        ways_[end] = {.next = next, .acked = next};
        known_ |= static_cast<std::uint8_t>(1U << end);
    }
    void note_ack(unsigned other, std::uint32_t ack) noexcept;
    void note_bytes(unsigned end, const ConnectionSegment& segment) noexcept;
    // The server has sent nothing yet: what it sends first acknowledges the SYN.
    [[nodiscard]] bool takes_restart(const ConnectionSegment& segment) const noexcept {
        return segment.has_ack && segment.ack == restart_ &&
               (restarts_ >> ((segment.from & 1U) ^ 1U) & 1U) != 0;
    }
    [[nodiscard]] bool answers(const ConnectionSegment& segment) const noexcept;

    std::array<Way, 2> ways_{};
    std::uint8_t known_ = 0;     // a bit for each end of which a number is known
    std::uint32_t restart_ = 0;  // what takes the latest further SYN acknowledges
    std::uint8_t restarts_ = 0;  // a bit for the end that has sent it
    std::uint8_t finished_ = 0;  // a bit for each whose FIN has passed
};

}  // namespace sluice
