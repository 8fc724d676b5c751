#pragma once
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/burst/held_units.hpp"
#include "lib/peer/reserve/ask_event.hpp"
#include "lib/peer/reserve/ask_lane.hpp"
#include "lib/peer/reserve/pending_packets.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sluice {

// The record of a packet that waits.
struct HeldPacket {
    void* buffer;  // as in Packet
    void* origin;  // where its burst came from
    HeldUnits units;
};

// One question about a unit of a packet, before it has a ticket.
struct WantedQuestion {
    Question question;
    std::uint8_t unit = 0;
    StoreAsking store{};  // of what the store of the cluster is asked
};

// Questions about one packet: one about each of its units, or a few of fewer.
inline constexpr std::size_t kMaxQuestions = 256;

// One worker's questions to owners of keys, and its packets that wait for the answers.
class ReserveClient {
public:
    ReserveClient(std::size_t self, AskLanes& lanes, const PendingBounds& bounds);

    // Sets where the bursts that are metered from now on came from.
    void set_origin(void* origin) noexcept { origin_ = origin; }

    [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }
    [[nodiscard]] bool holds(std::uint64_t connection) const noexcept {
        return pending_.holds(connection);
    }
    // Takes the packet out of its burst until its answers are there. False: it has no room, and
    // nothing was asked. Without questions it waits for those before it.
    [[nodiscard]] bool hold(Burst& burst, std::size_t row, std::uint64_t connection,
                            std::span<const WantedQuestion> wanted, Instant now) noexcept;
    // A question without an answer, of a packet that is refused: sent once its packet, if it is in
    // the room, has settled what was reserved.
    void spend(PendingSlot place, const WantedQuestion& wanted) noexcept;

    // Takes the answers that have come, and ends waits that are over.
    void take_answers(Instant now) noexcept;
    // Nobody waits any longer.
    void end_waits() noexcept { pending_.end_waits(); }
    // The next packets that are to be decided, all of one origin and with no more units than one
    // burst has room for: how many.
    [[nodiscard]] std::size_t take_ready(std::span<PendingSlot> places) noexcept;
    // True if a pending packet was to ask anything when it entered.
    [[nodiscard]] bool has_asked(PendingSlot place) const noexcept {
        return pending_.has_asked(place);
    }
    [[nodiscard]] const HeldPacket& held(PendingSlot place) const noexcept { return held_[place]; }

    // The answer about that limit for a unit of a pending packet; nullptr: there is none.
    [[nodiscard]] const Answer* answer(PendingSlot place, std::uint8_t unit,
                                       LimitSlot slot) const noexcept;
    // Keeps what was reserved by it: it will be charged.
    void keep_reserved(PendingSlot place, std::uint8_t unit, LimitSlot slot) noexcept;
    // The packet has been decided, or is let go of: what was reserved for it is charged or not.
    void finish(PendingSlot place) noexcept;

    // Room for the questions about the packet at hand.
    [[nodiscard]] std::span<WantedQuestion, kMaxQuestions> list() noexcept {
        return std::span<WantedQuestion, kMaxQuestions>{wanted_.get(), kMaxQuestions};
    }

    [[nodiscard]] std::size_t workers() const noexcept { return lanes_.workers(); }
    [[nodiscard]] const AskCounters& counters() const noexcept { return counters_; }

private:
    static constexpr unsigned kUnitShift = 16;
    [[nodiscard]] static std::uint32_t tag_of(std::uint8_t unit, LimitSlot slot) noexcept {
        return std::uint32_t{unit} << kUnitShift | slot;
    }
    // A question of a pending packet: whom it was put to, and what becomes of what he reserved.
    struct Put {
        Question question;
        StoreAsking store{};
        bool kept = false;
        bool spends = false;
    };
    [[nodiscard]] bool send(const Question& question, const StoreAsking& store) noexcept;
    void send_spending(const Question& question, const StoreAsking& store) noexcept;
    [[nodiscard]] std::size_t owner_of_key(std::uint64_t hash, LimitSlot slot) const noexcept;
    void ask(PendingSlot place, const WantedQuestion& wanted) noexcept;
    void settle(std::size_t owner, Ticket ticket, Question::Kind kind) noexcept;

    std::size_t self_;
    AskLanes& lanes_;
    PendingPackets pending_;
    std::unique_ptr<HeldPacket[]> held_;  // by place; pages are touched once packets wait there
    std::unique_ptr<Put[]> put_;          // by the tickets' places
    std::unique_ptr<WantedQuestion[]> wanted_ = std::make_unique<WantedQuestion[]>(kMaxQuestions);
    void* origin_ = nullptr;
    AskCounters counters_;
};

}  // namespace sluice
