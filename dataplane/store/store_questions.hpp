#pragma once
#include "dataplane/store/asked_shares.hpp"
#include "dataplane/store/refused_keys.hpp"
#include "dataplane/store/store_batches.hpp"
#include "lib/peer/reserve/ask_lane.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace sluice {

// Counts of questions to the store, by their ends.
struct StoreQuestionCounts {
    std::uint64_t asked = 0;          // by workers
    std::uint64_t admitted = 0;       // of these: by the store
    std::uint64_t refused = 0;        // by the store
    std::uint64_t still_refused = 0;  // here, since the store's last refusal still holds
    std::uint64_t late = 0;           // had no answer in time, and went by `owner_down`
    std::uint64_t down = 0;           // went by it at once: the store is away
    std::uint64_t no_room = 0;        // likewise: the budget or the bounds had no room
};

// Requests of all workers that wait for the store: each becomes an entry of a batch, and is
// answered by what comes back, or by `owner_down` once its time is over. No thread, socket or
// clock.
//
// Invariant: a question is answered once. An answer counts where its question still waits, so the
// peer may refuse, or admit only what was asked.
class StoreQuestions {
public:
    static constexpr std::size_t kMost = 4096;  // that wait, of all workers

    explicit StoreQuestions(std::size_t workers, Nanoseconds deadline = kLongestStoreWait);

    // Takes what a worker asks. `down`: the store does not answer.
    void take(std::size_t worker, StoreAskLane& lane, StoreBatches& batches, bool down,
              Nanoseconds now);
    // Takes what the store has answered, and ends waits that are over.
    void settle(StoreBatches& batches, Nanoseconds now);
    // Answers for a worker, as far as its ring has room.
    void deliver(std::size_t worker, StoreAskLane& lane);

    [[nodiscard]] const StoreQuestionCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

private:
    struct Open {
        StoreQuestion question;
        std::size_t worker = 0;
        std::uint32_t turn = 0;
        bool waits = false;
        Nanoseconds since{};
    };
    [[nodiscard]] static std::uint64_t name_of(std::uint32_t place, std::uint32_t turn) {
        return std::uint64_t{turn} << 32 | place;
    }
    // nullptr: it waits no longer.
    [[nodiscard]] Open* find(std::uint64_t name);
    void finish(Open& open);
    // A question that is not asked: the store is away, or surely refuses it. True: it is answered.
    [[nodiscard]] bool is_decided_here(const StoreQuestion& question, std::size_t worker, bool down,
                                       Nanoseconds now);
    void hear(const StoreBatches::Asked& asked, Nanoseconds now);
    void go_by_owner_down(const StoreQuestion& question, std::size_t worker, Nanoseconds now);
    void tell(const StoreQuestion& question, std::size_t worker, const Answer& answer);

    Nanoseconds deadline_;
    std::vector<Open> open_;
    std::vector<std::uint32_t> free_;
    std::deque<std::uint64_t> by_age_;
    std::vector<std::deque<Answer>> answers_;  // by worker
    AskedShares shares_;
    RefusedKeys refused_;
    std::uint64_t lost_ = 0;  // partitions that had begun anew when refusals were forgotten last
    std::size_t waiting_ = 0;
    StoreQuestionCounts counts_;
};

}  // namespace sluice
