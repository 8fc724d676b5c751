#pragma once
#include "lib/base/wide.hpp"
#include "lib/ledger/bucket_books.hpp"
#include "lib/ledger/ledger.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

// Workers on a virtual clock: the production ledger over the production tables, and beside them a
// bucket that knows of every charge at once, in wider integers than any of them.
namespace sluice {

inline constexpr LimitSlot kSharedSlot = 1;

struct SharedLimit {
    AnyLimit limit;
    std::uint64_t max_unsynced;
    bool open = false;  // what becomes of a charge for which there is no credit
};

struct WorkersSize {
    std::size_t workers = 2;
    std::size_t ring = 64;
    std::size_t records = 256;
    std::size_t keys = 1024;
    Nanoseconds interval{1'000'000};
};

// What all workers together have admitted for one key, exactly.
class ExactBucket {
public:
    // In 1/parts ns, after the charge.
    Wide charge(const Limit& limit, Instant now, std::uint64_t units) {
        debt_ = debt_at(limit, now) + static_cast<Wide>(units) * limit.period();
        at_ = now;
        admitted_ += units;
        return debt_;
    }
    [[nodiscard]] Wide debt_at(const Limit& limit, Instant now) const {
        const Wide passed = static_cast<Wide>((now - at_).count()) * limit.parts();
        return debt_ > passed ? debt_ - passed : 0;
    }
    [[nodiscard]] std::uint64_t admitted() const { return admitted_; }

private:
    Wide debt_ = 0;
    Instant at_{};
    std::uint64_t admitted_ = 0;
};

class Workers {
public:
    Workers(const SharedLimit& shared, const WorkersSize& size)
        : shared_{shared}, size_{size}, rows_(kSharedSlot + 1), lanes_{size.workers, size.ring} {
        rows_[kSharedSlot].limit = &shared_.limit;
        rows_[kSharedSlot].max_unsynced = shared_.max_unsynced;
        for (std::size_t i = 0; i < size.workers; ++i) {
            Worker worker;
            worker.store = std::make_unique<BucketStore>(size.keys, 16);
            worker.store->adopt(rows_, 0, Nanoseconds{0}, {});
            worker.books = std::make_unique<BucketBooks>(*worker.store);
            worker.memory = std::make_unique<std::vector<Record>>(size.records);
            workers_.push_back(std::move(worker));
            restart(i, Instant{});
        }
    }

    // The ledger of a worker begins anew over the memory of the one before.
    void restart(std::size_t worker, Instant now) {
        workers_[worker].ledger =
            std::make_unique<Ledger>(worker, lanes_, *workers_[worker].memory, now);
        workers_[worker].ledger->set(size_.interval, 1);
    }
    // All of them, and nothing that was on its way arrives.
    void restart_all(Instant now) {
        lanes_ = AmountLanes{size_.workers, size_.ring};
        for (std::size_t i = 0; i < size_.workers; ++i) {
            restart(i, now);
        }
    }

    // A packet of a key comes to a worker, as the pipeline would judge it.
    bool offer(std::size_t worker, std::uint64_t key, std::uint32_t cost, Instant now) {
        const Account account = account_of(key);
        Worker& me = workers_[worker];
        const bool own = me.ledger->owns(account);
        if (!own && me.ledger->credit(account, cost, shared_.max_unsynced) != Credit::Enough &&
            !shared_.open) {
            ++refused_for_credit_;
            return false;
        }
        Entry* entry = me.store->keys.find(account.filed());
        if (entry == nullptr) {
            entry = fresh(me, account, now);
        }
        if (entry == nullptr) {
            return false;
        }
        const Cell cell = entry->cell();
        Gcra bucket{cell.fresh_from, cell.rest};
        if (!admits(bucket, limit(), now, Units{cost})) {
            return false;
        }
        const std::uint32_t record = own ? kNoRecord : me.ledger->note(account, cost, {.at = now});
        charge(bucket, limit(), now, Units{cost});
        entry->write({bucket.fresh_from, bucket.below});
        me.ledger->send_if_much(record, shared_.max_unsynced, {bucket, 0}, {.at = now});
        worst_debt_ = std::max(worst_debt_, exact_[key].charge(limit(), now, cost));
        return true;
    }

    // The top of a worker's turn.
    void turn(std::size_t worker, Instant now) {
        Worker& me = workers_[worker];
        (void)me.store->begin_burst({.at = now});
        me.ledger->exchange(*me.books, Now{.at = now});
    }

    // Whether no worker has an amount that is not contained in what it holds.
    [[nodiscard]] bool synced() const {
        return std::all_of(workers_.begin(), workers_.end(), [](const Worker& worker) {
            return worker.ledger->records().in_use() == 0;
        });
    }
    // The most that a worker has not synced of a key.
    [[nodiscard]] std::uint64_t most_unsynced(std::uint64_t key) const {
        std::uint64_t most = 0;
        for (const Worker& worker : workers_) {
            const Record* record = worker.ledger->records().find(account_of(key));
            most = std::max(most, record == nullptr ? 0 : record->unsynced());
        }
        return most;
    }
    // What a worker's copy of a key owes, in 1/parts ns.
    [[nodiscard]] std::uint64_t debt_at(std::size_t worker, std::uint64_t key, Instant now) {
        return debt_of(workers_[worker].books->copy_of(account_of(key), {.at = now}).bucket,
                       limit(), now);
    }
    [[nodiscard]] std::size_t owner(std::uint64_t key) const {
        return owner_of(account_of(key), size_.workers);
    }
    [[nodiscard]] const ExactBucket& exact(std::uint64_t key) { return exact_[key]; }
    [[nodiscard]] const std::map<std::uint64_t, ExactBucket>& exact() const { return exact_; }
    [[nodiscard]] Wide worst_debt() const { return worst_debt_; }
    [[nodiscard]] std::uint64_t refused_for_credit() const { return refused_for_credit_; }
    [[nodiscard]] const Limit& limit() const { return *gcra_of(shared_.limit); }
    // Beyond which no window may go, as a debt.
    [[nodiscard]] Wide promised_debt() const {
        return limit().full() +
               static_cast<Wide>(size_.workers - 1) * shared_.max_unsynced * limit().period();
    }
    [[nodiscard]] std::uint64_t worst_excess() const {
        std::uint64_t worst = 0;
        for (const Worker& worker : workers_) {
            worst = std::max(worst, worker.books->worst_excess(kSharedSlot).read());
        }
        return worst;
    }
    // Over all workers.
    [[nodiscard]] std::uint64_t sum(LedgerEvent event) const {
        std::uint64_t sum = 0;
        for (const Worker& worker : workers_) {
            sum += worker.ledger->counters().read(event);
        }
        return sum;
    }
    [[nodiscard]] BucketStore& store(std::size_t worker) { return *workers_[worker].store; }

    [[nodiscard]] static Account account_of(std::uint64_t key) {
        return {.hash = (key + 1) * 0x9E37'79B9'7F4A'7C15, .slot = kSharedSlot, .step = 0};
    }

private:
    struct Worker {
        std::unique_ptr<BucketStore> store;
        std::unique_ptr<BucketBooks> books;
        std::unique_ptr<std::vector<Record>> memory;
        std::unique_ptr<Ledger> ledger;
    };

    static Entry* fresh(Worker& me, const Account& account, Instant now) {
        Entry* entry = me.store->keys.make_place(account.filed(), me.store->tenants, {.at = now});
        if (entry != nullptr) {
            entry->file({now, 0}, account.filed().filed, {});
            entry->release();
            me.store->tenants.came(account.slot);
        }
        return entry;
    }

    SharedLimit shared_;
    WorkersSize size_;
    std::vector<SlotRow> rows_;
    AmountLanes lanes_;
    std::vector<Worker> workers_;
    std::map<std::uint64_t, ExactBucket> exact_;
    Wide worst_debt_ = 0;
    std::uint64_t refused_for_credit_ = 0;
};

}  // namespace sluice
