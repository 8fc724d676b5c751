#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/lifetime.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/window_time.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/bucket/table/take.hpp"
#include "lib/peer/merge/charge_ahead.hpp"
#include "lib/peer/merge/ledger.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/peer/merge/terms.hpp"
#include "tests/unit/peer/merge/exact.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// Workers on a virtual clock: the production ledger over the production tables, and beside them
// what is exact.
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
    std::size_t lines = 256;
    Nanoseconds interval{1'000'000};
    Nanoseconds longest{Ledger::kLongestWait};
    // Units that the box may have spent of a key which the store of its cluster has not confirmed;
    // 0: it is in none.
    std::uint32_t box_unsynced = 0;
    std::uint16_t times_down = 1;
    std::uint64_t overshoot = UINT32_MAX;  // of all boxes
    StoreTerms store{};
    Nanoseconds utc_ahead{0};
    Nanoseconds skew{0};  // how much further each worker's UTC is ahead than that of the one before
};

class Workers {
public:
    Workers(const SharedLimit& shared, const WorkersSize& size)
        : Workers{shared, size, nullptr, Instant{}} {}
    // Over bytes_for(size) bytes of somebody else, which are zeroes or what other Workers of that
    // size left there, at any instant.
    Workers(const SharedLimit& shared, const WorkersSize& size, std::byte* memory, Instant now)
        : shared_{shared},
          size_{size},
          rows_(kSharedSlot + 1),
          links_{size.workers, {.merge = size.ring}} {
        rows_[kSharedSlot].limit = &shared_.limit;
        rows_[kSharedSlot].max_unsynced = static_cast<std::uint32_t>(shared_.max_unsynced);
        if (size.box_unsynced != 0) {
            lanes_.open_store(size.store);
        }
        for (std::size_t i = 0; i < size.workers; ++i) {
            add_worker(memory == nullptr ? nullptr : memory + i * bytes_of_one(size), {.at = now});
            restart(i, now);
        }
    }
    [[nodiscard]] static std::size_t bytes_for(const WorkersSize& size) {
        return size.workers * bytes_of_one(size);
    }
    // What others are known to have admitted before.
    void go_on_from(const Workers& others) {
        exact_ = others.exact_;
        admitted_ = others.admitted_;
        worst_ = others.worst_;
    }

    // The ledger of a worker begins anew over the memory of the one before.
    void restart(std::size_t worker, Instant now) {
        workers_[worker].ledger = std::make_unique<Ledger>(worker, lanes_, workers_[worker].records,
                                                           now, kSharedSlot + 1);
        workers_[worker].ledger->set(size_.interval, size_.longest);
        std::array<ClusterBound, kSharedSlot + 1> of_cluster{};
        of_cluster[kSharedSlot] = {size_.box_unsynced, size_.times_down, false,
                                   size_.times_down,   windowed(),       size_.overshoot};
        workers_[worker].ledger->set_cluster(of_cluster);
    }
    // All of them, and nothing that was on its way arrives.
    void restart_all(Instant now) {
        links_ = Links{size_.workers, {.merge = size_.ring}};
        lanes_ = DeltaLanes{links_};
        for (std::size_t i = 0; i < size_.workers; ++i) {
            restart(i, now);
        }
    }

    // A packet of a key comes to a worker, as the pipeline would judge it.
    bool offer(std::size_t worker, std::uint64_t key, std::uint32_t cost, Instant now) {
        const Now time = time_at(worker, now);
        Worker& me = workers_[worker];
        const Account account = charged_in(me.ledger_store->copy_of(account_of(key), time), key);
        // Every other packet goes the way that most packets go.
        if (gcra_of(shared_.limit) != nullptr && ++offered_ % 2 == 0) {
            const std::optional<bool> admitted = offer_quickly(me, account, cost, time);
            publish(worker);
            if (admitted) {
                if (*admitted) {
                    admitted_ += cost;
                    note_exactly(exact_[key], me.ledger_store->copy_of(account, time), now, cost);
                }
                return *admitted;
            }
        }
        me.ledger->give_back(account, me.ledger_store->recall(account));
        const bool own = me.ledger->owns(account);
        const std::uint64_t most = me.ledger->bound_of(account, shared_.max_unsynced);
        const Credit credit = me.ledger->credit(account, cost, most);
        if (!own && credit != Credit::Enough && !shared_.open) {
            const bool cut_off = me.ledger->is_cut_off(account, credit);
            refused_for_credit_ += cut_off ? 0 : 1;
            return cut_off && offer_without_store(me, account, cost, time);
        }
        Entry* entry = me.store->keys.find(account.table_key());
        if (entry == nullptr) {
            entry = fresh(me, account, time);
        }
        if (entry == nullptr) {
            return false;
        }
        Cell cell = entry->cell();
        LinePool& pool = me.store->registry.pool();
        if (check(cell, shared_.limit, pool, time, {Units{cost}}) != Conformance::Green) {
            return false;
        }
        const Due due = due_of(cell, shared_.limit, pool, time, Units{cost});
        const std::uint32_t record = own ? kNoRecord : me.ledger->note(account, cost, time, due);
        charge(cell, shared_.limit, pool, time, {Units{cost}});
        entry->write(cell);
        const BucketState copy = bucket_state_of(cell, shared_.limit, pool, time);
        me.ledger->send_if_much(record, most, copy, time);
        admitted_ += cost;
        note_exactly(exact_[key], copy, now, cost);
        return true;
    }

    // The top of a worker's turn.
    void poll(std::size_t worker, Instant now) {
        Worker& me = workers_[worker];
        const Now time = time_at(worker, now);
        (void)me.store->begin_burst(time);
        me.ledger->exchange(*me.ledger_store, time);
    }

    [[nodiscard]] DeltaLanes& lanes() { return lanes_; }

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
            most = std::max(most, worker.ledger->records().unsynced(
                                      account_of(key).in(windowed() ? Turn{1} : Turn{0})));
        }
        return most;
    }
    // What a worker's copy of a key owes, in 1/parts ns.
    [[nodiscard]] std::uint64_t debt_at(std::size_t worker, std::uint64_t key, Instant now) {
        return debt_of(workers_[worker].ledger_store->copy_of(account_of(key), {.at = now}).bucket,
                       limit(), now);
    }
    [[nodiscard]] std::size_t owner(std::uint64_t key) const {
        return owner_of(account_of(key), size_.workers);
    }
    [[nodiscard]] BucketState copy_of(std::size_t worker, std::uint64_t key, Instant now) {
        return workers_[worker].ledger_store->copy_of(account_of(key), time_at(worker, now));
    }
    // Whether the owners' totals have all that was admitted and counts still.
    [[nodiscard]] bool owners_know_all(Instant now) {
        return std::all_of(exact_.begin(), exact_.end(), [&](const auto& each) {
            const BucketState total = copy_of(owner(each.first), each.first, now);
            return total.lasts == 0 ? debt_of(total.bucket, limit(), now) >=
                                          each.second.bucket.debt_at(limit(), now)
                                    : nothing_lost(each.first, now);
        });
    }
    // Of windows: whether what counts still, for any worker, is in the owner's total or unsynced.
    [[nodiscard]] bool nothing_lost(std::uint64_t key, Instant now) {
        const BucketState total = copy_of(owner(key), key, now);
        if (total.has_tally()) {
            return total.tally.sum + unsynced_of(key, 0) >= exact_sum(exact_[key], now);
        }
        std::int64_t epoch = total.counts.epoch;
        for (std::size_t worker = 0; worker < size_.workers; ++worker) {
            epoch = std::max(epoch, copy_of(worker, key, now).counts.epoch);
        }
        const WindowCounts known = moved_to(total.counts, epoch, total.lasts);
        return known.current + unsynced_in(key, epoch) >= exact_[key].windows.in(epoch) &&
               (total.lasts < 2 ||
                known.previous + unsynced_in(key, epoch - 1) >= exact_[key].windows.in(epoch - 1));
    }
    struct Exact {
        ExactBucket bucket;
        ExactWindows windows;
    };
    [[nodiscard]] const std::map<std::uint64_t, Exact>& exact() const { return exact_; }
    [[nodiscard]] std::uint64_t admitted() const { return admitted_; }
    [[nodiscard]] std::uint64_t refused_for_credit() const { return refused_for_credit_; }
    [[nodiscard]] const Limit& limit() const { return *gcra_of(shared_.limit); }
    // What all charges together are above what one bucket or count would have admitted, at worst,
    // in units and rounded up; and what is promised of it.
    [[nodiscard]] std::uint64_t worst_overshoot() const { return worst_; }
    [[nodiscard]] std::uint64_t promised_overshoot() const {
        return (size_.workers - 1) * shared_.max_unsynced;
    }
    [[nodiscard]] std::uint64_t worst_excess() const {
        std::uint64_t worst = 0;
        for (const Worker& worker : workers_) {
            worst = std::max(worst, worker.ledger_store->worst_excess(kSharedSlot).read());
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
        return {
            .hash = (key + 1) * 0x9E37'79B9'7F4A'7C15, .slot = kSharedSlot, .aggregation_level = 0};
    }

private:
    struct Worker;
    void publish(std::size_t worker) {
        for (std::size_t owner = 0; owner < size_.workers; ++owner) {
            if (owner != worker) {
                lanes_.between(worker, owner).deltas.publish();
            }
        }
    }
    // nullopt: it takes the other way.
    std::optional<bool> offer_quickly(Worker& me, const Account& account, std::uint32_t cost,
                                      Now now) {
        Entry* entry = me.store->keys.find(account.table_key());
        if (entry == nullptr) {
            return std::nullopt;
        }
        if (!fits(*entry, limit(), now.at, Units{cost})) {
            return false;
        }
        const Due due = due_of(bucket_in(entry->cell(), limit()), limit(), now.at, Units{cost});
        const ChargeAhead ahead{*me.ledger, limit(), shared_.max_unsynced, now.at};
        const bool done = ahead(
            {account, Units{cost}, due, *entry},
            [&] { take_fitting(*entry, limit(), now.at, Units{cost}); },
            [&]() -> BucketState {
                return {bucket_in(entry->cell(), limit()), entry->stamp().version};
            });
        return done ? std::optional{true} : std::nullopt;
    }

    // As `local_share` has it.
    bool offer_without_store(Worker& me, const Account& account, std::uint32_t cost, Now now) {
        BucketState copy = me.ledger_store->copy_of(account, now);
        if (windowed()) {
            return offer_window_without_store(me, account, cost, now);
        }
        const Wide asked = Wide{cost} * size_.times_down * limit().period();
        if (debt_of(copy.bucket, limit(), now.at) + asked > limit().full()) {
            return false;
        }
        copy.bucket = me.ledger->share_locally(
            account, {cost, me.ledger->times_without_credit(account.slot)}, copy, limit(), now);
        return me.ledger_store->raise(account, copy, {}, now);
    }

    bool offer_window_without_store(Worker& me, const Account& account, std::uint32_t cost,
                                    Now now) {
        const std::uint64_t times = me.ledger->times_without_credit(account.slot);
        BucketState copy = me.ledger_store->copy_of(account, now);
        if (used_by(copy.counts, now) + cost * times > most_at_once(shared_.limit)) {
            return false;
        }
        me.ledger->share_windows_locally(account, cost, copy, now.at + longest_debt(shared_.limit),
                                         now);
        copy.counts.current += cost * times;
        return me.ledger_store->raise(account, copy, {}, now);
    }

    // Units that count now, rounded up.
    [[nodiscard]] std::uint64_t used_by(const WindowCounts& counts, Now now) const {
        const auto* sliding = std::get_if<SlidingWindowLimit>(&shared_.limit);
        if (sliding == nullptr) {
            return counts.current;
        }
        SlidingWindow window;
        window.set_counts(counts);
        return window.used(*sliding, time_for(*sliding, now)).count();
    }

    struct Worker {
        std::unique_ptr<BucketStore> store;
        std::unique_ptr<LedgerStore> ledger_store;
        std::unique_ptr<std::vector<Record>> memory;  // nullptr: somebody else's
        std::span<Record> records;
        std::unique_ptr<Ledger> ledger;
    };

    // Buckets, then records.
    [[nodiscard]] static std::size_t bytes_of_one(const WorkersSize& size) {
        constexpr std::size_t kPage = 4096;
        const std::size_t bytes =
            StoreLayout{size.keys, size.lines}.bytes() + size.records * sizeof(Record);
        return (bytes + kPage - 1) / kPage * kPage;
    }
    void add_worker(std::byte* memory, Now now) {
        Worker worker;
        if (memory == nullptr) {
            worker.store = std::make_unique<BucketStore>(size_.keys, size_.lines);
            worker.memory = std::make_unique<std::vector<Record>>(size_.records);
            worker.records = *worker.memory;
        } else {
            const StoreLayout layout{size_.keys, size_.lines};
            worker.store = std::make_unique<BucketStore>(StoreMemory{memory, layout, 4096});
            (void)worker.store->recover(rows_, now);
            worker.records = {reinterpret_cast<Record*>(memory + layout.bytes()), size_.records};
        }
        worker.store->adopt(rows_, 0, Nanoseconds{0}, now);
        worker.ledger_store = std::make_unique<LedgerStore>(*worker.store);
        workers_.push_back(std::move(worker));
    }

    // What counts of all charges, in sub-windows.
    [[nodiscard]] std::uint64_t exact_sum(const Exact& exact, Instant now) const {
        const auto& numbers = std::get<SlidingCountersLimit>(shared_.limit);
        const auto slot = static_cast<std::int64_t>(SubWindowSlots{numbers}.of(now));
        std::uint64_t sum = 0;
        for (std::int64_t k = slot - numbers.buckets + (numbers.edge == Edge::Strict ? 0 : 1);
             k <= slot; ++k) {
            sum += exact.windows.in(k);
        }
        return sum;
    }
    // By all workers, of one window.
    [[nodiscard]] std::uint64_t unsynced_in(std::uint64_t key, std::int64_t epoch) const {
        return unsynced_of(key, turn_of(epoch));
    }
    [[nodiscard]] std::uint64_t unsynced_of(std::uint64_t key, Turn turn) const {
        std::uint64_t units = 0;
        for (const Worker& worker : workers_) {
            const Record* record = worker.ledger->records().find(account_of(key).in(turn));
            units += record == nullptr ? 0 : record->unsynced();
        }
        return units;
    }
    [[nodiscard]] bool windowed() const { return windows_counted(shared_.limit) != 0; }
    [[nodiscard]] Now time_at(std::size_t worker, Instant now) const {
        return {.at = now,
                .utc_ahead = size_.utc_ahead + static_cast<std::int64_t>(worker) * size_.skew};
    }
    static Account charged_in(const BucketState& copy, std::uint64_t key) {
        const Account account = account_of(key);
        return !copy.has_counts() ? account : account.in(turn_of(copy.counts.epoch));
    }
    void note_exactly(Exact& exact, const BucketState& copy, Instant now, std::uint64_t cost) {
        Wide over = 0;
        Wide unit = 1;
        if (copy.lasts == 0) {
            const Wide debt = exact.bucket.charge(limit(), now, cost);
            unit = limit().period();
            over = debt > limit().full() ? debt - limit().full() : 0;
        } else if (copy.has_tally()) {
            const auto& numbers = std::get<SlidingCountersLimit>(shared_.limit);
            exact.windows.charge(static_cast<std::int64_t>(SubWindowSlots{numbers}.of(now)), cost);
            const Wide used = exact_sum(exact, now);
            over = used > numbers.numbers.count ? used - numbers.numbers.count : 0;
        } else {
            exact.windows.charge(copy.counts.epoch, cost);
            const std::uint64_t most = most_at_once(shared_.limit);
            Wide used = exact.windows.in(copy.counts.epoch);
            if (const auto* sliding = std::get_if<SlidingWindowLimit>(&shared_.limit)) {
                unit = static_cast<Wide>(sliding->numbers.window);
                used = exact.windows.slid(sliding->numbers, copy.counts.epoch, now);
            }
            over = used > most * unit ? used - most * unit : 0;
        }
        worst_ = std::max(worst_, static_cast<std::uint64_t>((over + unit - 1) / unit));
    }
    Entry* fresh(Worker& me, const Account& account, Now now) {
        Cell cell;
        Entry* entry = me.store->keys.make_place(account.table_key(), me.store->registry, now);
        if (entry == nullptr || !open_bucket(cell, shared_.limit, me.store->registry.pool(),
                                             GroupKey{account.hash}, now)) {
            return nullptr;
        }
        entry->file(cell, account.table_key().slot_and_tag, {});
        entry->release();
        me.store->registry.came(account.slot);
        return entry;
    }

    SharedLimit shared_;
    WorkersSize size_;
    std::vector<SlotRow> rows_;
    Links links_;
    DeltaLanes lanes_{links_};
    std::vector<Worker> workers_;
    std::map<std::uint64_t, Exact> exact_;
    std::uint64_t admitted_ = 0;
    std::uint64_t offered_ = 0;
    std::uint64_t worst_ = 0;
    std::uint64_t refused_for_credit_ = 0;
};

}  // namespace sluice
