#pragma once
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/worker.hpp"
#include "lib/engine/worker/memory_host.hpp"
#include "lib/engine/worker/memory_io.hpp"
#include "lib/engine/worker/peer_lanes.hpp"
#include "tests/packets/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace sluice::bench {

// Two workers, each a whole one, of whose packets every second one has a key that the other owns.
// All are admitted.
class OwnedFlows {
public:
    static constexpr std::size_t kWorkers = 2;

    // The way in which a packet is charged to a key of another worker's.
    enum class Way : std::uint8_t {
        Local,     // it is not: each worker has a bucket of its own
        Ask,       // its owner is asked, and it waits where it is
        HandOver,  // it goes to its owner
    };
    explicit OwnedFlows(Way way);

    // So many bursts over both workers, in turns of a few each, in the caller's thread.
    void run(std::size_t bursts);
    // The next turn of one worker, in any thread, the same every time.
    void poll(std::size_t worker);

    // Frames that have left, and those among them that were forwarded.
    [[nodiscard]] std::uint64_t left() const noexcept;
    [[nodiscard]] std::uint64_t forwarded() const noexcept;
    // Those that another worker had a part in: asked about, or handed over.
    [[nodiscard]] std::uint64_t shared() const noexcept;

private:
    struct Out {
        using Lane = MemoryIo<Out>;
        void send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
                  const SendContext<Lane>& context, Lane& lane) noexcept;
        void depart(std::span<MemoryFrame*> frames, WorkerCounters& counters) noexcept;
    };
    using BenchedWorker = Worker<MemoryIo<Out>, MemoryHost>;
    struct One {
        WorkerCounters counters;
        std::vector<Record> records = std::vector<Record>(16);
        std::vector<test::Octets> bytes;
        std::vector<MemoryFrame> frames;
        std::size_t next = 0;
        std::deque<MemoryFrame*> coming;
        Now now{Instant{std::chrono::hours{1}}, {}};
        Out out;
        std::unique_ptr<BenchedWorker> worker;
    };
    void add(std::size_t worker);

    std::shared_ptr<const LoadedRules> loaded_;
    Published<Running> running_;
    PeerLanes peers_{kWorkers};
    AnswerBoards boards_{256, 4096};
    CoreRoster roster_;
    std::vector<std::unique_ptr<MemoryRing>> rings_;  // by sender and owner
    std::vector<std::unique_ptr<One>> workers_;
    std::unique_ptr<WorkerTables> tables_;
};

}  // namespace sluice::bench
