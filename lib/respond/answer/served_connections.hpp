#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/units.hpp"
#include "lib/l7/http1/response_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

// A connection whose requests a worker has forwarded, and both of whose directions it sees from the
// handshake on.
struct alignas(64) ServedConnection {
    std::uint64_t digest = 0;  // of the client's direction; 0: the line is free
    ResponseStream answers;
    std::uint32_t touched = 0;   // in ticks
    std::uint32_t received = 0;  // behind the highest byte of the client that is acknowledged

    // True if a segment of its client can have these numbers: it acknowledges what the server has
    // sent lately, and stands where the server awaits it.
    [[nodiscard]] bool fits(std::uint32_t seq, std::uint32_t ack) const noexcept;
};
static_assert(sizeof(ServedConnection) == 64, "a look-up touches as many lines as a place has");
static_assert(std::is_trivially_copyable_v<ServedConnection>,
              "zeroed memory is lines that are free, of which nothing else is read");

// Served connections of one worker. A digest has four lines; where all four are in use, the
// connection that has been silent for longest makes room, and has a completed handshake only as far
// as its numbers prove it (SentNumbers).
class ServedConnections {
public:
    static constexpr std::size_t kWays = 4;

    // Rounded up to a power of two. Aborts if there is no memory.
    explicit ServedConnections(std::size_t connections);

    void prefetch(std::uint64_t digest) const noexcept {
        for (std::size_t way = 0; way < kWays; ++way) {
            prefetch0(lines_of(digest) + way);
        }
    }
    // nullptr: there is none.
    [[nodiscard]] ServedConnection* find(std::uint64_t digest) const noexcept;
    // Begun anew if it stood.
    ServedConnection& add(std::uint64_t digest, Instant now) noexcept;
    static void touch(ServedConnection& connection, Instant now) noexcept;
    static void remove(ServedConnection& connection) noexcept { connection.digest = 0; }
    // False: none that was added had these two ports. Few connections are read beside many that are
    // not, and these cost no digest then.
    [[nodiscard]] bool may_have(std::uint16_t sport, std::uint16_t dport) const noexcept {
        const std::size_t bit = bit_of(sport, dport);
        return (ports_[bit / 64] >> (bit % 64) & 1U) != 0;
    }
    void note_ports(std::uint16_t sport, std::uint16_t dport) noexcept {
        const std::size_t bit = bit_of(sport, dport);
        ports_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }

private:
    [[nodiscard]] ServedConnection* lines_of(std::uint64_t digest) const noexcept {
        return lines_ + (digest & mask_) * kWays;
    }

    static constexpr std::size_t kPortBits = 1U << 16U;
    // The bit of two ports, in either order.
    [[nodiscard]] static std::size_t bit_of(std::uint16_t sport, std::uint16_t dport) noexcept {
        const unsigned low = std::min(sport, dport);
        return (std::max(sport, dport) + low * 0x9E37U) % kPortBits;
    }

    std::array<std::uint64_t, kPortBits / 64> ports_{};
    LineMemory memory_;
    ServedConnection* lines_;
    std::uint64_t mask_;
};

}  // namespace sluice
