#include "dataplane/store/store_batches.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Units that a worker has noted as sent.
std::uint64_t units_in(const StoreAmount& amount) {
    return amount.kind == StoreAmount::Kind::Add ? amount.units : 0;
}

// Answers come sooner or later, so readings differ by a little. Whoever says much more may not be
// believed by the processes that come after it: a clock that lags pays back less, for a while.
void note_clock(PartitionClock& clock, const StoreReply& reply, std::uint64_t received_us) {
    constexpr std::int64_t kMostRiseUs = 1'000'000;
    const auto ahead = static_cast<std::int64_t>(reply.now_us - received_us);
    if (clock.born() != reply.born || ahead <= clock.ahead_us() + kMostRiseUs) {
        clock.tell(reply.born, reply.now_us, received_us);
    }
}

}  // namespace

std::optional<StoreEntry> entry_of(const StoreAmount& amount) {
    if (!amount.numbers.are_known()) {
        return std::nullopt;
    }
    StoreEntry entry{.digest = amount.account.hash,
                     .step = amount.account.aggregation_level,
                     .kind = amount.kind == StoreAmount::Kind::Declare ? StoreEntryKind::Declare
                                                                       : StoreEntryKind::Add,
                     .units = amount.units,
                     .lasts = amount.numbers.lasts};
    if (amount.numbers.lasts == 0 || amount.numbers.lasts == kGaugeLasts) {
        static_assert(kGaugeLasts == StoreNumbers::kGauge);
        entry.period_ns = amount.numbers.period;
        entry.parts = amount.numbers.parts;
    } else {
        entry.window_us = amount.numbers.period;
        entry.phase_us = amount.numbers.parts;
        entry.epoch = amount.epoch;
    }
    return entry;
}

StoreBatches::StoreBatches(std::size_t workers, std::uint64_t budget)
    : partitions_(kStorePartitions), totals_(workers), budget_{budget} {}

StoreBatches::Partition& StoreBatches::partition_of(const Account& account) {
    const auto count = static_cast<Wide>(partitions_.size());
    return partitions_[static_cast<std::size_t>((account.hash * count) >> 64)];
}

// A batch under way may have been applied under its number, so it goes on in its partition. Where
// the store has that partition no more nobody answers it: it is told anew, and counted twice at
// most.
void StoreBatches::set_partitions(std::uint16_t partitions) {
    if (partitions == partitions_.size() || partitions == 0 || partitions > kMostStorePartitions) {
        return;
    }
    std::vector<Waiting> waiting;
    for (std::size_t at = 0; at < partitions_.size(); ++at) {
        const Partition& partition = partitions_[at];
        if (!partition.under_way.empty() && at < partitions) {
            return;  // once nothing is
        }
        waiting.insert(waiting.end(), partition.under_way.begin(), partition.under_way.end());
        waiting.insert(waiting.end(), partition.asked.begin(), partition.asked.end());
        waiting.insert(waiting.end(), partition.waiting.begin(), partition.waiting.end());
    }
    partitions_ = std::vector<Partition>(partitions);
    next_ = 0;
    std::for_each(waiting.begin(), waiting.end(), [this](const Waiting& each) { give_back(each); });
}

void StoreBatches::take(std::size_t worker, StoreLane& lane, Nanoseconds now) {
    short_ = false;
    std::size_t taken = 0;
    const std::size_t count = lane.amounts.waiting(SIZE_MAX);
    for (; taken < count; ++taken) {
        const Waiting waiting{lane.amounts.peek(taken), worker};
        const StoreBudget::Answer answer = budget_.take(waiting.amount.account.slot, now);
        short_ = short_ || answer != StoreBudget::Answer::Told;
        if (answer == StoreBudget::Answer::NotYet) {
            break;
        }
        ++counts_.amounts;
        unsynced_ += units_in(waiting.amount);
        Partition& partition = partition_of(waiting.amount.account);
        if (answer == StoreBudget::Answer::Told && partition.waiting.size() < kMostWaiting &&
            waiting.amount.numbers.are_known()) {
            partition.waiting.push_back(waiting);
        } else {
            give_back(waiting);
        }
    }
    lane.amounts.done(taken);
}

void StoreBatches::deliver(std::size_t worker, StoreLane& lane) {
    std::deque<StoreTotal>& totals = totals_[worker];
    while (!totals.empty()) {
        StoreTotal* next = lane.totals.next();
        if (next == nullptr) {
            lane.totals.retire(lane.totals.acknowledged());
            next = lane.totals.next();
        }
        if (next == nullptr) {
            break;
        }
        *next = totals.front();
        lane.totals.commit();
        totals.pop_front();
    }
    lane.totals.publish();
}

bool StoreBatches::ask(std::uint64_t question, const StoreAmount& amount, std::uint64_t most,
                       Nanoseconds now) {
    Partition& partition = partition_of(amount.account);
    if (partition.asked.size() >= kMostAsked || !amount.numbers.are_known() || most == 0 ||
        budget_.take(amount.account.slot, now) != StoreBudget::Answer::Told) {
        return false;
    }
    partition.asked.push_back({amount, 0, most, question});
    return true;
}

void StoreBatches::withdraw(std::uint64_t question, const Account& account) {
    std::erase_if(partition_of(account).asked,
                  [&](const Waiting& each) { return each.question == question; });
}

// Until the batch has `most` entries.
void StoreBatches::add(Partition& partition, std::deque<Waiting>& from, std::size_t most) {
    while (!from.empty() && partition.under_way.size() < most) {
        const Waiting& next = from.front();
        StoreEntry entry = *entry_of(next.amount);
        if (next.most != 0) {
            entry.kind = StoreEntryKind::Ask;
            entry.most = next.most;
        }
        partition.batch.entries.push_back(entry);
        partition.under_way.push_back(next);
        from.pop_front();
    }
}

void StoreBatches::make_batch(Partition& partition, Nanoseconds now) {
    partition.batch.partition = static_cast<std::uint16_t>(&partition - partitions_.data());
    partition.batch.seq = partition.last + 1;
    partition.batch.entries.clear();
    add(partition, partition.asked, kMostAskedAtOnce);
    add(partition, partition.waiting, kMostStoreEntries);
    partition.made = now;
    partition.to_say = true;
    ++counts_.batches;
}

const StoreBatch* StoreBatches::next_to_say(Nanoseconds now) {
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
        Partition& partition = partitions_[next_];
        next_ = next_ + 1 == partitions_.size() ? 0 : next_ + 1;
        const bool idle = partition.under_way.empty();
        const bool wants = !partition.waiting.empty() || !partition.asked.empty();
        if (idle && wants && now - partition.made >= kLeastGap) {
            make_batch(partition, now);
            partition.said = now;
            partition.to_say = false;
            return &partition.batch;
        }
        if (!idle && (partition.to_say || now - partition.said >= kSayAgain)) {
            partition.said = now;
            partition.to_say = false;
            ++counts_.said_again;
            return &partition.batch;
        }
    }
    return nullptr;
}

void StoreBatches::say_all_again() {
    for (Partition& partition : partitions_) {
        partition.to_say = !partition.under_way.empty();
    }
}

void StoreBatches::put(const Waiting& waiting, const StoreTotal& as) {
    StoreTotal total = as;
    unsynced_ -= std::min(unsynced_, units_in(waiting.amount));
    total.account = waiting.amount.account;
    total.units = waiting.amount.units;
    total.record = waiting.amount.record;
    total.declared = waiting.amount.kind == StoreAmount::Kind::Declare;
    totals_[waiting.worker].push_back(total);
}

void StoreBatches::give_back(const Waiting& waiting) {
    if (waiting.most != 0) {
        asked_.push_back({waiting.question, std::nullopt});
        return;
    }
    ++counts_.put_off;
    put(waiting, {.account = {}, .kind = StoreTotal::Kind::Later});
}

// A window that is ahead of the store's time is not opened for anybody.
void StoreBatches::answer(const Waiting& waiting, const StoreLevel& level) {
    if (waiting.most != 0) {
        asked_.push_back({waiting.question, level});
        return;
    }
    if (level.skewed) {
        ++counts_.skewed;
        put(waiting, {.account = {}, .epoch = level.epoch, .kind = StoreTotal::Kind::Ahead});
        return;
    }
    ++(level.expired ? counts_.expired : counts_.answered);
    put(waiting, {.account = {},
                  .current = level.current,
                  .previous = level.previous,
                  .epoch = level.epoch,
                  .kind = level.expired ? StoreTotal::Kind::Over : StoreTotal::Kind::Level});
}

void StoreBatches::settle(const StoreReply& reply, Nanoseconds now) {
    Partition* partition =
        reply.partition < partitions_.size() ? &partitions_[reply.partition] : nullptr;
    if (partition == nullptr || partition->under_way.empty() || reply.seq != partition->batch.seq) {
        ++counts_.strange;
        return;
    }
    switch (reply.outcome) {
        case StoreOutcome::Fenced:
            return;  // it is said again until the slot is this box's once more
        case StoreOutcome::Gap:
            // The batch is the next of those that the store has: where it has fewer, batches that
            // had been confirmed are gone; where it has more, an answer was a lie, or came from
            // another store, and what it has of this one is counted twice.
            if (reply.last + 1 != partition->batch.seq) {
                counts_.gaps += reply.last < partition->last ? 1 : 0;
                partition->last = reply.last;
                partition->batch.seq = reply.last + 1;
                partition->to_say = true;
            }
            return;
        case StoreOutcome::Applied:
            break;
    }
    if (reply.levels.size() != partition->under_way.size()) {
        ++counts_.strange;
        return;
    }
    counts_.lost += partition->born != 0 && partition->born != reply.born ? 1 : 0;
    partition->born = reply.born;
    note_clock(partition->clock, reply, static_cast<std::uint64_t>(now.count()) / 1000);
    partition->last = reply.seq;
    for (std::size_t i = 0; i < reply.levels.size(); ++i) {
        answer(partition->under_way[i], reply.levels[i]);
    }
    partition->under_way.clear();
    partition->to_say = false;
}

StoreClocks StoreBatches::clocks() const {
    StoreClocks known;
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
        const PartitionClock& clock = partitions_[i].clock;
        if (clock.born() != 0) {
            known.clocks.push_back({static_cast<std::uint16_t>(i), clock.born(), clock.ahead_us()});
        }
    }
    return known;
}

std::optional<Nanoseconds> StoreBatches::oldest_under_way() const {
    std::optional<Nanoseconds> oldest;
    for (const Partition& partition : partitions_) {
        if (!partition.under_way.empty()) {
            oldest = std::min(oldest.value_or(partition.made), partition.made);
        }
    }
    return oldest;
}

}  // namespace sluice
