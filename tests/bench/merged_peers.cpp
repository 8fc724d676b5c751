#include "tests/bench/merged_peers.hpp"

#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/table/take.hpp"
#include "tests/bench/cpus.hpp"
#include "tests/bench/rounds.hpp"

#include <immintrin.h>

namespace sluice::bench {

MergedPeers::Peer::Peer(const PeerSetup& setup, std::size_t index)
    : me{index},
      store{setup.keys, 16},
      ledger_store{store},
      records{(setup.keys + 1) * sizeof(Record)},  // as in the dataplane
      ledger{me, setup.lanes,
             std::span{static_cast<Record*>(records.data()), records.bytes() / sizeof(Record)},
             Instant{}} {
    store.adopt(setup.rows, 0, Nanoseconds{0}, {});
    ledger.set(setup.interval);
}

MergedPeers::MergedPeers(PeerSetup setup, int cpu) : setup_{std::move(setup)} {
    for (std::size_t i = 1; i < setup_.lanes.workers(); ++i) {
        peers_.push_back(std::make_unique<Peer>(setup_, i));
    }
    thread_ = std::thread{[this, cpu] {
        pin_to(cpu);
        run();
    }};
}

MergedPeers::~MergedPeers() {
    told_.stop.store(true, std::memory_order_release);
    thread_.join();
}

double MergedPeers::follow(Instant now, Charge charge) noexcept {
    if (++bursts_ % kToldAt != 0) {
        return 0;
    }
    told_.now.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    told_.charge.store(charge, std::memory_order_relaxed);
    told_.begun.store(bursts_, std::memory_order_release);
    if (bursts_ - done_.followed.load(std::memory_order_acquire) < kFarBehind) {
        return 0;
    }
    return cpu_ns_per(1, [&] {
        while (bursts_ - done_.followed.load(std::memory_order_acquire) > kCloseBy) {
            _mm_pause();
        }
    });
}

void MergedPeers::catch_up() const noexcept {
    const std::uint64_t begun = told_.begun.load(std::memory_order_relaxed);
    while (done_.followed.load(std::memory_order_acquire) != begun) {
        _mm_pause();
    }
}

std::uint64_t MergedPeers::counted(LedgerEvent event) const noexcept {
    std::uint64_t sum = 0;
    for (const auto& peer : peers_) {
        sum += peer->ledger.counters().read(event);
    }
    return sum;
}

void MergedPeers::run() noexcept {
    std::uint64_t followed = 0;
    while (!told_.stop.load(std::memory_order_acquire)) {
        const std::uint64_t begun = told_.begun.load(std::memory_order_acquire);
        const Now now{Instant{Nanoseconds{told_.now.load(std::memory_order_relaxed)}}, {}};
        const Charge charge = told_.charge.load(std::memory_order_relaxed);
        for (; followed != begun; ++followed) {
            for (const auto& peer : peers_) {
                burst(*peer, now, charge);
            }
        }
        done_.followed.store(followed, std::memory_order_release);
        _mm_pause();
    }
}

// Of a burst whose keys are anybody's, as many as are worker 0's; and for the keys of this worker
// what it and the others, but worker 0, have.
void MergedPeers::ask_for(Peer& peer, Charge charge) noexcept {
    const std::size_t first = charge == Charge::Own ? 0 : kPackets / setup_.lanes.workers();
    const Account* one = one_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < kPackets; ++i) {
        const std::vector<Account>& accounts = setup_.accounts[i < first ? 0 : peer.me];
        charged_[i] = accounts[random_.below(accounts.size())];
        if (one != nullptr && i % 2 != 0) {
            charged_[i] = *one;
        }
        (void)peer.store.keys.prefetch_both(charged_[i].table_key());
    }
}

void MergedPeers::burst(Peer& peer, Now now, Charge charge) noexcept {
    ask_for(peer, charge);
    (void)peer.store.begin_burst(now);
    peer.ledger.exchange(peer.ledger_store, now);
    peer.ledger.ask(peer.ledger_store);
    const Account* one = one_.load(std::memory_order_acquire);
    for (const Account& account : charged_) {
        if (charge_one(peer, account, now) && one != nullptr && account == *one) {
            admitted_.note(now.at);
        }
    }
}

bool MergedPeers::charge_one(Peer& peer, const Account& account, Now now) noexcept {
    Entry* entry = peer.store.keys.find(account.table_key());
    if (entry == nullptr) {
        entry = peer.store.keys.make_place(account.table_key(), peer.store.registry, now);
        if (entry != nullptr) {
            entry->file({now.at, 0}, account.table_key().slot_and_tag, {});
            entry->release();
            peer.store.registry.came(account.slot);
        }
    }
    if (entry == nullptr || !charge_entry(peer, account, *entry, now)) {
        refused_.add(1);
        return false;
    }
    return true;
}

bool MergedPeers::charge_entry(Peer& peer, const Account& account, Entry& entry, Now now) noexcept {
    const Gcra bucket = bucket_in(entry.cell(), setup_.limit);
    if (!admits(bucket, setup_.limit, now.at, Units{1})) {
        return false;
    }
    const ChargeAhead ahead{peer.ledger, setup_.limit, setup_.rows[account.slot].max_unsynced,
                            now.at};
    const Due due = due_of(bucket, setup_.limit, now.at, Units{1});
    return ahead(
        {account, Units{1}, due, entry},
        [&] { take_fitting(entry, setup_.limit, now.at, Units{1}); },
        [&]() -> BucketState {
            return {bucket_in(entry.cell(), setup_.limit), entry.stamp().version};
        });
}

}  // namespace sluice::bench
