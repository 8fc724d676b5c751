#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/worker/peer_lanes.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/peer/merge/ledger.hpp"
#include "lib/peer/reserve/pending_packets.hpp"
#include "lib/respond/act/answerer.hpp"
#include "lib/share/published.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace sluice {

// Packets of one worker that wait for owners of keys, and what it promises others as an owner.
struct ReserveBounds {
    // An owner that stands still holds up packets of its keys for so long.
    static constexpr Nanoseconds kLongestWait = std::chrono::milliseconds{250};

    PendingBounds pending;
    // A reservation lasts until every packet that it may be for has been decided.
    Nanoseconds lifetime = std::chrono::seconds{2};

    // Each of so many workers has these.
    [[nodiscard]] static constexpr ReserveBounds of(std::size_t workers) noexcept {
        return {.pending = {.questions = most_questions(workers), .longest = kLongestWait}};
    }
};

// The two bursts that a worker has on their way. They are large.
using BurstPair = std::array<Burst, 2>;

// One worker among all, which share what is no more than referred to.
struct WorkerSetup {
    const Published<Running>& running;
    PeerLanes& peers;
    std::size_t workers;
    UnitBudget units;
    KeptMemory connections;     // the worker's own
    std::span<Record> records;  // likewise, for amounts that others have not settled
    unsigned held_percent;  // of each lane's buffers, over all workers: packets that depart later
    AnswerBoards& answer_boards;  // see Answerer
    ReserveBounds reserve = ReserveBounds::of(workers);
    std::shared_ptr<BurstPair> bursts = std::make_shared<BurstPair>();  // the worker's own
};

}  // namespace sluice
