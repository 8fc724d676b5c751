#pragma once
#include "lib/peer/reserve/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

struct PendingBounds {
    std::size_t packets = 256;
    std::size_t questions = 1024;
    Nanoseconds longest{};  // that a packet waits
};

// A packet's place among those pending.
using PendingSlot = std::uint32_t;
inline constexpr PendingSlot kNoPendingSlot = ~PendingSlot{0};

// Packets of one worker that wait for what owners answer, or behind one of their connection that
// does. What is kept of a packet is the caller's, by its place. All memory is taken at the start.
class PendingPackets {
public:
    explicit PendingPackets(const PendingBounds& bounds);

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t free_questions() const noexcept { return free_question_count_; }
    [[nodiscard]] std::size_t places() const noexcept { return packets_.size(); }
    // True if a packet of that connection is pending; it is until finish().
    [[nodiscard]] bool holds(std::uint64_t connection) const noexcept {
        return *find(connection) != kNoPendingSlot;
    }

    // The latest packet of its connection; kNoPendingSlot: no place is free.
    [[nodiscard]] PendingSlot enter(std::uint64_t connection, Instant now) noexcept;
    // One more question of a packet that nobody has taken yet, `tag` telling it from its others;
    // nullopt: no place is free. Not all of its answers are there before begin_waiting().
    [[nodiscard]] std::optional<Ticket> ask(PendingSlot packet, std::uint32_t tag) noexcept;
    void begin_waiting(PendingSlot packet) noexcept;
    // The packet has just entered, asks nothing, and does not wait after all.
    void leave(PendingSlot packet) noexcept;

    // False: nobody waits for it any more.
    [[nodiscard]] bool take_answer(const Answer& answer) noexcept;
    // Who has waited for too long waits no longer.
    void expire(Instant now) noexcept;
    // Nobody waits any longer, whatever has been answered.
    void end_waits() noexcept { expire(Instant::max()); }

    // The next packet that is to be decided, one connection's in their order; kNoPendingSlot: all
    // others wait. It stays pending until it has been decided.
    [[nodiscard]] PendingSlot take_ready() noexcept;
    // The one that would be taken.
    [[nodiscard]] PendingSlot next_ready() const noexcept { return first_ready_; }
    void finish(PendingSlot packet) noexcept;

    [[nodiscard]] bool has_asked(PendingSlot packet) const noexcept {
        return packets_[packet].first_question != kNone;
    }
    // One question of a pending packet.
    struct Asked {
        Ticket ticket;
        std::uint32_t tag = 0;
        const Answer* answer = nullptr;  // nullptr: there is none
    };
    template <typename Visit>
    void for_each_question(PendingSlot packet, Visit&& visit) const noexcept {
        for (std::uint32_t at = packets_[packet].first_question; at != kNone;
             at = questions_[at].next) {
            const Slip& slip = questions_[at];
            visit(Asked{{at, slip.turn}, slip.tag, slip.answered ? &slip.answer : nullptr});
        }
    }

private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    struct Held {
        std::uint64_t connection = 0;
        Instant until{};
        std::uint32_t first_question = kNone;
        std::uint32_t unanswered = 0;
        PendingSlot before = kNone;  // of the same connection
        PendingSlot behind = kNone;
        PendingSlot older = kNone;  // by when they came; or the next free place
        PendingSlot newer = kNone;
        PendingSlot next_ready = kNone;
        PendingSlot chain = kNone;  // of the last packet of a connection: another one's
        bool taken = false;
        bool done = false;  // its answers are there, or its time is over
    };
    struct Slip {
        Answer answer;
        std::uint32_t tag = 0;
        std::uint32_t turn = 0;
        std::uint32_t next = kNone;  // of the same packet; or the next free one
        PendingSlot packet = kNone;  // kNone: free
        bool answered = false;
    };

    [[nodiscard]] PendingSlot* find(std::uint64_t connection) noexcept;
    [[nodiscard]] const PendingSlot* find(std::uint64_t connection) const noexcept;
    void set_done(PendingSlot packet) noexcept;
    void offer(PendingSlot packet) noexcept;
    void leave_connection(PendingSlot packet) noexcept;
    void leave_ages(PendingSlot packet) noexcept;
    void free_questions_of(PendingSlot packet) noexcept;

    Nanoseconds longest_;
    std::vector<Held> packets_;
    std::vector<Slip> questions_;
    std::vector<PendingSlot> connections_;  // the last packets of connections, by digest: chains
    PendingSlot free_packet_ = kNone;
    std::uint32_t free_question_ = kNone;
    std::size_t free_question_count_ = 0;
    PendingSlot oldest_ = kNone;  // of those that wait
    PendingSlot newest_ = kNone;
    PendingSlot first_ready_ = kNone;
    PendingSlot last_ready_ = kNone;
    std::size_t size_ = 0;
};

}  // namespace sluice
