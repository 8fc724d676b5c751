#pragma once
#include "lib/peer/link/links.hpp"
#include "lib/peer/merge/message.hpp"
#include "lib/peer/merge/store_message.hpp"
#include "lib/share/core.hpp"
#include "lib/share/kept_ring.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// From one worker to one owner: amounts there, totals back.
struct DeltaLane {
    DeltaLane(Links& links, std::size_t sender, std::size_t owner)
        : deltas{links.place(sender, owner, LinkRing::Amounts)},
          totals{links.place(owner, sender, LinkRing::Totals)} {}

    KeptRing<Delta> deltas;
    KeptRing<Total> totals;
};

// The store of a cluster, as the workers of one of its boxes know it.
struct StoreTerms {
    std::size_t machines = 2;       // that the cluster may have
    Nanoseconds sync{100'000'000};  // age of an amount that a verdict of another box may need
    std::size_t ring = 2048;        // messages on their way between a worker and it, each way
};

// Signals to workers of the thread that speaks to the store.
struct StoreSignals {
    Signal down;
    Signal over_budget;
    Signal windows_apart;
    Counter losses;
};

// The lane from a worker to its cluster's store, over a link of their own: amounts there, levels
// back. The store's end takes amounts out of the ring, so these are settled one by one.
class StoreLane {
public:
    StoreLane(const StoreTerms& about, const StoreSignals& signals)
        : terms{about},
          down{signals.down},
          over_budget{signals.over_budget},
          windows_apart{signals.windows_apart},
          losses{signals.losses},
          links_{2, {.merge = about.ring}},
          amounts{links_.place(0, 1, LinkRing::Amounts)},
          totals{links_.place(1, 0, LinkRing::Totals)} {}

    const StoreTerms terms;
    const Signal& down;           // raised while the store does not answer
    const Signal& over_budget;    // raised while some keys are not told for want of budget
    const Signal& windows_apart;  // raised while windows go by the box's share: its clock is wrong
    const Counter& losses;        // times that the store had lost what it had confirmed
    Counter other_clock;          // answers, here, by which the store's time is not that of the box

private:
    Links links_;

public:
    KeptRing<StoreAmount> amounts;
    KeptRing<StoreTotal> totals;
};

// One lane for each ordered pair of workers, over their links, which outlive it.
class DeltaLanes {
public:
    explicit DeltaLanes(Links& links) : links_{&links} {
        for (std::size_t sender = 0; sender < workers(); ++sender) {
            for (std::size_t owner = 0; owner < workers(); ++owner) {
                lanes_.push_back(
                    sender == owner ? nullptr : std::make_unique<DeltaLane>(links, sender, owner));
            }
        }
    }

    // A lane of each worker to the store; before any ledger is made.
    void open_store(const StoreTerms& terms) {
        for (std::size_t worker = 0; worker < workers(); ++worker) {
            store_.push_back(std::make_unique<StoreLane>(terms, *signals_));
        }
    }
    // Set by whoever speaks to the store.
    [[nodiscard]] Signal& store_down() noexcept { return signals_->down; }
    [[nodiscard]] Signal& store_over_budget() noexcept { return signals_->over_budget; }
    [[nodiscard]] Signal& windows_apart() noexcept { return signals_->windows_apart; }
    [[nodiscard]] Counter& store_losses() noexcept { return signals_->losses; }
    // Answers of the store to any worker by which its time is not that of the box.
    [[nodiscard]] std::uint64_t other_clock() const noexcept {
        std::uint64_t answers = 0;
        for (const auto& lane : store_) {
            answers += lane->other_clock.read();
        }
        return answers;
    }
    // nullptr: the box is in no cluster.
    [[nodiscard]] StoreLane* store(std::size_t worker) noexcept {
        return store_.empty() ? nullptr : store_[worker].get();
    }

    [[nodiscard]] std::size_t workers() const noexcept { return links_->workers(); }
    [[nodiscard]] DeltaLane& between(std::size_t sender, std::size_t owner) noexcept {
        return *lanes_[sender * workers() + owner];
    }
    // What one of them tells the other, of both lanes between them.
    [[nodiscard]] RingMarks& marks_between(std::size_t from, std::size_t to) noexcept {
        return links_->marks_between(from, to);
    }

private:
    Links* links_;
    std::vector<std::unique_ptr<DeltaLane>> lanes_;
    std::unique_ptr<StoreSignals> signals_ = std::make_unique<StoreSignals>();
    std::vector<std::unique_ptr<StoreLane>> store_;  // by worker; empty: there is none
};

}  // namespace sluice
