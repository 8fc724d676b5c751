#pragma once
#include "dataplane/store/store_budget.hpp"
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"
#include "lib/peer/merge/delta_lane.hpp"
#include "lib/peer/store/partition_clock.hpp"
#include "lib/peer/store/store_batch.hpp"
#include "lib/wire/store_messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

// Counts of amounts for the store, and of its answers.
struct StoreBatchCounts {
    std::uint64_t amounts = 0;   // taken from workers
    std::uint64_t answered = 0;  // of these: answered with a level
    std::uint64_t put_off = 0;  // of these: given back to be told later, for want of room or budget
    std::uint64_t batches = 0;  // made
    std::uint64_t said_again = 0;  // sayings of a batch beyond its first
    std::uint64_t gaps = 0;        // the store had lost batches that it had confirmed
    std::uint64_t lost = 0;        // partitions that began anew
    std::uint64_t expired = 0;     // amounts of windows that were over
    std::uint64_t skewed = 0;      // amounts of windows ahead of the store's time
    std::uint64_t strange = 0;     // replies to nothing that is under way
};

// Amounts of all workers as batches for the store, one under way in each partition, and its replies
// as totals for the workers:
//
//   lanes -> take() -> partition: waiting | under way -> next_to_say() ~~> the store
//   lanes <- deliver() <-------- totals <------------------ settle()   <~~
//
// A batch is numbered once and stays as it is until it is answered, however often it is said: the
// store applies each number once. No thread, no socket, no clock of its own. Replies are untrusted:
// one settles what is under way, entry by entry, or nothing.
class StoreBatches {
public:
    // Amounts that wait in a partition; more are given back to their workers.
    static constexpr std::size_t kMostWaiting = 1024;
    // Questions that wait in a partition, and those of one batch.
    static constexpr std::size_t kMostAsked = 256;
    static constexpr std::size_t kMostAskedAtOnce = kMostStoreEntries / 2;
    // The gaps between batches of a partition, and between two sayings of one.
    static constexpr Nanoseconds kLeastGap{1'000'000};
    static constexpr Nanoseconds kSayAgain{100'000'000};

    // `budget`: keys a second.
    StoreBatches(std::size_t workers, std::uint64_t budget);

    // How many partitions the store has; what waits for others is given back.
    void set_partitions(std::uint16_t partitions);

    // Takes what a worker has to tell, as long as the budget lasts. What is of a limit beyond its
    // part of that is given back, so that nothing waits behind it.
    void take(std::size_t worker, StoreLane& lane, Nanoseconds now);
    // A question about the amount, which takes its place before those that nobody waits for. False:
    // there is no room, or no budget.
    [[nodiscard]] bool ask(std::uint64_t question, const StoreAmount& amount, std::uint64_t most,
                           Nanoseconds now);
    // A question that is not under way yet is asked no more.
    void withdraw(std::uint64_t question, const Account& account);
    // An answer to a question; nullopt: there will be none.
    struct Asked {
        std::uint64_t question = 0;
        std::optional<StoreLevel> level;
    };
    [[nodiscard]] std::vector<Asked> take_asked() { return std::exchange(asked_, {}); }
    // Totals for a worker, as far as its ring has room.
    void deliver(std::size_t worker, StoreLane& lane);
    // The next batch that is to be said now; nullptr: there is none.
    [[nodiscard]] const StoreBatch* next_to_say(Nanoseconds now);
    // The store may not have heard what was said: all that is under way is to be said again.
    void say_all_again();
    // `now`: of the machine's monotonic clock.
    void settle(const StoreReply& reply, Nanoseconds now);
    // Clocks of the partitions that have answered.
    [[nodiscard]] StoreClocks clocks() const;

    // Since when the batch has been under way that has been so for the longest; nullopt: none is.
    [[nodiscard]] std::optional<Nanoseconds> oldest_under_way() const;
    [[nodiscard]] const StoreBatchCounts& counts() const noexcept { return counts_; }
    // Times that a partition had lost what it had confirmed.
    [[nodiscard]] std::uint64_t losses() const noexcept { return counts_.lost + counts_.gaps; }
    // Units that workers have told and the store has not confirmed.
    [[nodiscard]] std::uint64_t unsynced() const noexcept { return unsynced_; }
    // The budget had no room for some of the amounts that were last to be taken.
    [[nodiscard]] bool is_short() const noexcept { return short_; }

private:
    struct Waiting {
        StoreAmount amount;
        std::size_t worker;
        std::uint64_t most = 0;  // of a question; 0: it is none
        std::uint64_t question = 0;
    };
    struct Partition {
        std::deque<Waiting> waiting;
        std::deque<Waiting> asked;
        std::vector<Waiting> under_way;
        StoreBatch batch;
        std::uint64_t last = 0;  // that has been answered
        std::uint64_t born = 0;  // 0: not told yet
        PartitionClock clock;
        Nanoseconds made{};
        Nanoseconds said{};
        bool to_say = false;  // at once
    };

    [[nodiscard]] Partition& partition_of(const Account& account);
    void make_batch(Partition& partition, Nanoseconds now);
    static void add(Partition& partition, std::deque<Waiting>& from, std::size_t most);
    void give_back(const Waiting& waiting);
    void answer(const Waiting& waiting, const StoreLevel& level);
    void put(const Waiting& waiting, const StoreTotal& as);

    std::vector<Partition> partitions_;
    std::vector<std::deque<StoreTotal>> totals_;  // by worker
    std::vector<Asked> asked_;
    StoreBudget budget_;
    std::size_t next_ = 0;  // partition to look at
    std::uint64_t unsynced_ = 0;
    bool short_ = false;
    StoreBatchCounts counts_;
};

// An amount as an entry of a batch; of a limit that the store cannot count: nullopt.
[[nodiscard]] std::optional<StoreEntry> entry_of(const StoreAmount& amount);

}  // namespace sluice
