#pragma once
#include "lib/peer/merge/charge_ahead.hpp"
#include "lib/peer/merge/ledger.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/share/core.hpp"
#include "tests/bench/admitted_by_time.hpp"
#include "tests/bench/roof.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace sluice::bench {

// What a worker's peers share with it, and what is theirs to charge.
struct PeerSetup {
    DeltaLanes& lanes;
    std::span<const SlotRow> rows;
    const Limit& limit;
    Nanoseconds interval;
    std::vector<std::vector<Account>> accounts;  // by owner
    std::size_t keys;                            // each of them has room for
};

// The other workers of a box whose worker 0 is measured, on a thread of their own: they own most of
// the keys that it charges, and charge those that it owns, as much as if every key rotated over all
// workers. They meet no packets, and what they would tell one another each owner charges by itself.
class MergedPeers {
public:
    MergedPeers(PeerSetup setup, int cpu);
    ~MergedPeers();
    MergedPeers(const MergedPeers&) = delete;
    MergedPeers& operator=(const MergedPeers&) = delete;

    // Whose keys they charge: those that they own, or worker 0's too, which they tell it.
    enum class Charge : std::uint8_t { Own, Everybodys };

    // Worker 0 is about to begin a burst at `now`: they do as much. Waits for them if they are
    // far behind; the CPU time of that, ns.
    [[nodiscard]] double follow(Instant now, Charge charge) noexcept;
    // From now on every second packet of theirs is of this account, which outlives its use;
    // nullptr: none is.
    void flood(const Account* one) noexcept { one_.store(one, std::memory_order_release); }
    // Before flood(): what is admitted of it is noted from then on, for so long.
    void watch(Instant from, Nanoseconds lasts) { admitted_.begin(from, lasts); }
    // Waits until they have done all that they were told of.
    void catch_up() const noexcept;
    // What was admitted of it, by when; after catch_up().
    [[nodiscard]] const AdmittedByTime& admitted() const noexcept { return admitted_; }
    // Over all of them.
    [[nodiscard]] std::uint64_t counted(LedgerEvent event) const noexcept;
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.read(); }

private:
    struct Peer {
        explicit Peer(const PeerSetup& setup, std::size_t index);

        std::size_t me;
        BucketStore store;
        LedgerStore ledger_store;
        LineMemory records;
        Ledger ledger;
    };
    // In bursts. Nobody looks at what another core writes more often than it must: a line that
    // crosses for each burst would be counted as a cost of merging.
    static constexpr std::uint64_t kToldAt = 16;
    static constexpr std::uint64_t kFarBehind = 256;
    static constexpr std::uint64_t kCloseBy = 64;
    static constexpr std::size_t kPackets = 32;  // of a burst

    void run() noexcept;
    void burst(Peer& peer, Now now, Charge charge) noexcept;
    void ask_for(Peer& peer, Charge charge) noexcept;
    // Whether it was admitted.
    bool charge_one(Peer& peer, const Account& account, Now now) noexcept;
    bool charge_entry(Peer& peer, const Account& account, Entry& entry, Now now) noexcept;

    PeerSetup setup_;
    std::vector<std::unique_ptr<Peer>> peers_;
    Random random_{5};
    std::array<Account, kPackets> charged_;  // in a burst
    Counter refused_;
    AdmittedByTime admitted_;
    std::atomic<const Account*> one_{nullptr};
    std::uint64_t bursts_ = 0;  // of worker 0, which alone knows it
    // Worker 0's to write: its bursts that are told of, and the instant of the last.
    struct alignas(kCacheLine) Told {
        std::atomic<std::int64_t> now{0};
        std::atomic<Charge> charge{Charge::Own};
        std::atomic<std::uint64_t> begun{0};
        std::atomic<bool> stop{false};
    };
    // And theirs: bursts that they have done.
    struct alignas(kCacheLine) Done {
        std::atomic<std::uint64_t> followed{0};
    };
    Told told_;
    Done done_;
    std::thread thread_;
};

}  // namespace sluice::bench
