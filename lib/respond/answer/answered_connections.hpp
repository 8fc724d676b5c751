#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/units.hpp"
#include "lib/respond/answer/answer_bounds.hpp"
#include "lib/respond/decision.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

// Kinds of answers to a client.
enum class AnsweredKind : std::uint8_t {
    Response,  // of HTTP/1
    Head,      // one without its body
    Alert,     // of TLS, in clear
    Reset,     // nothing but a RST
};

// A connection whose client the box has answered, and what it takes to say the same again.
struct alignas(64) AnsweredConnection {
    std::uint64_t digest = 0;   // of the client's direction; 0: the line is free
    std::uint64_t load = 0;     // of the rules that the answer is from
    Nanoseconds wait{};         // as the decision had it
    std::uint32_t touched = 0;  // in ticks
    std::uint32_t rule = kNoRule;
    std::uint32_t request = 0;  // of the first byte of the segment that was answered
    std::uint32_t begin = 0;  // of the response's first byte; while it waits, since when, in ticks
    std::uint32_t end = 0;    // behind its FIN; while it waits, its client's latest ACK, in ticks
    std::uint32_t received = 0;  // behind all that has come from the client in order
    ActionIndex action = kDropAction;
    std::uint8_t limit = 0;
    AnsweredKind kind = AnsweredKind::Response;
    bool has_finished = false;  // its client has sent its FIN behind the whole answer
    std::uint8_t repeats = 0;   // answers that were sent again
    std::uint16_t date = 0;     // of its answer, in seconds of UTC, their lower bits
    std::uint32_t acked = 0;    // by the client's latest ACK without payload, below `end`
    bool has_acked = false;
    bool waits = false;  // for an answer of the server to end, before its own begins

    // The refusal waits from now on; the client has acknowledged all before `ack`.
    void begin_wait(std::uint32_t ack, Instant now) noexcept;
    // The client of one that waits has acknowledged more.
    void note_progress(std::uint32_t ack, Instant now) noexcept;
    [[nodiscard]] Nanoseconds waited(Instant now) const noexcept;
    // Nothing has been acknowledged for kAnswerStall, or it has waited for kLongestAnswerWait.
    [[nodiscard]] bool is_overdue(Instant now) const noexcept;
};
static_assert(sizeof(AnsweredConnection) == 64, "a look-up touches as many lines as a place has");
static_assert(std::is_trivially_copyable_v<AnsweredConnection>,
              "zeroed memory is lines that are free, of which nothing else is read");

// One worker's connections. A digest has four lines; where all four are in use the connection that
// has been silent for longest makes room: what its client repeats is reset from then on.
class AnsweredConnections {
public:
    // Silent for so long, a connection is forgotten; sooner where its client has sent its FIN.
    static constexpr Nanoseconds kSilence = kAnsweredSilence;
    static constexpr Nanoseconds kAfterFin = kAnsweredAfterFin;
    static constexpr std::size_t kWays = 4;

    // Rounded up to a power of two. Aborts if there is no memory.
    explicit AnsweredConnections(std::size_t connections);

    // False: all that were added have been forgotten.
    [[nodiscard]] bool may_have_any(Instant now) const noexcept;
    // Prefetches the lines that it may be in.
    void prefetch(std::uint64_t digest) const noexcept {
        for (std::size_t way = 0; way < kWays; ++way) {
            prefetch0(lines_of(digest) + way);
        }
    }
    // False: none has made room for another one in the time that it would have been kept for.
    [[nodiscard]] bool may_have_displaced(Instant now) const noexcept;
    // nullptr: there is none. What is found has been silent until now.
    [[nodiscard]] AnsweredConnection* find(std::uint64_t digest, Instant now) noexcept;
    struct Added {
        AnsweredConnection& connection;  // with its digest alone; one that stood is begun anew
        bool displaces;                  // another one, before its time
    };
    [[nodiscard]] Added add(std::uint64_t digest, Instant now) noexcept;
    static void remove(AnsweredConnection& connection) noexcept { connection.digest = 0; }

private:
    [[nodiscard]] AnsweredConnection* lines_of(std::uint64_t digest) const noexcept {
        return lines_ + (digest & mask_) * kWays;
    }
    [[nodiscard]] static bool is_free(const AnsweredConnection& line, std::uint32_t ticks) noexcept;

    LineMemory memory_;
    AnsweredConnection* lines_;
    std::uint64_t mask_;
    std::uint32_t latest_ = 0;  // in ticks
    bool has_any_ = false;
    std::uint32_t displaced_ = 0;  // in ticks
    bool has_displaced_ = false;
};

}  // namespace sluice
