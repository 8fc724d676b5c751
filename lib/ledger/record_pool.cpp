#include "lib/ledger/record_pool.hpp"

#include "lib/base/check.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

RecordPool::RecordPool(std::span<Record> memory, std::size_t workers, Instant now)
    : records_{memory.first(std::min<std::size_t>(memory.size(), kMostRecords))},
      head_count_{std::bit_ceil(std::max<std::size_t>(2 * records_.size(), 2))},
      head_memory_{head_count_ * sizeof(std::uint32_t)},
      heads_{static_cast<std::uint32_t*>(head_memory_.data())},
      lists_(workers) {
    std::fill_n(heads_, head_count_, kNoRecord);
    for (std::size_t i = records_.size(); i-- > 0;) {
        const auto index = static_cast<std::uint32_t>(i);
        Record& record = records_[i];
        if (record.amounts == 0) {
            record.chain = free_ & kMostRecords;
            free_ = index;
            ++free_count_;
            continue;
        }
        // Nobody knows what became of what was sent: counting twice is allowed, losing is not.
        record.set(std::min<std::uint64_t>(record.unsynced(), UINT32_MAX), 0);
        chain(index);
        enlist(index, now);
    }
}

std::uint32_t RecordPool::index_of(const Account& account) const noexcept {
    std::uint32_t index = heads_[head_of(account)];
    while (index != kNoRecord && records_[index].account() != account) {
        index = static_cast<std::uint32_t>(records_[index].chain);
    }
    return index;
}

std::uint32_t RecordPool::add(const Account& account, std::uint32_t units, Instant now) noexcept {
    return add_to(index_of(account), account, units, now);
}

std::uint32_t RecordPool::add_to(std::uint32_t index, const Account& account, std::uint32_t units,
                                 Instant now) noexcept {
    if (index == kNoRecord) {
        index = open(account);
        if (index == kNoRecord) {
            return kNoRecord;
        }
    }
    Record& record = records_[index];
    const bool listed = record.unsent() != 0;
    record.set(std::uint64_t{record.unsent()} + units, record.sent());
    if (!listed) {
        enlist(index, now);
    }
    return index;
}

std::uint32_t RecordPool::add_sent(std::uint32_t index, const Account& account,
                                   std::uint32_t units) noexcept {
    if (index == kNoRecord) {
        index = open(account);
        if (index == kNoRecord) {
            return kNoRecord;
        }
    } else if (records_[index].unsent() != 0) {
        delist(index);
    }
    Record& record = records_[index];
    record.set(0, record.unsynced() + units);
    return index;
}

void RecordPool::note_sent(std::uint32_t index) noexcept {
    Record& record = records_[index];
    delist(index);
    record.set(0, record.unsynced());
}

void RecordPool::note_contained(std::uint32_t index, std::uint32_t units) noexcept {
    Record& record = records_[index];
    SLUICE_CHECK(units <= record.sent());
    record.set(record.unsent(), record.sent() - units);
    close_if_done(index);
}

void RecordPool::note_returned(std::uint32_t index, std::uint32_t units, Instant now) noexcept {
    Record& record = records_[index];
    SLUICE_CHECK(units <= record.sent());
    const bool listed = record.unsent() != 0;
    record.set(std::uint64_t{record.unsent()} + units, record.sent() - units);
    if (!listed) {
        enlist(index, now);
    }
}

void RecordPool::drop_unsent(std::uint32_t index) noexcept {
    Record& record = records_[index];
    delist(index);
    record.set(0, record.sent());
    close_if_done(index);
}

std::uint32_t RecordPool::open(const Account& account) noexcept {
    const std::uint32_t index = free_;
    if (index == kNoRecord) {
        return kNoRecord;
    }
    Record& record = records_[index];
    free_ = static_cast<std::uint32_t>(record.chain);
    --free_count_;
    record.hash = account.hash;
    record.slot = account.slot & 0x7FFFU;
    record.step = account.step & 3U;
    chain(index);
    return index;
}

void RecordPool::close_if_done(std::uint32_t index) noexcept {
    Record& record = records_[index];
    if (record.amounts != 0) {
        return;
    }
    std::uint32_t& head = heads_[head_of(record.account())];
    if (head == index) {
        head = static_cast<std::uint32_t>(record.chain);
    } else {
        std::uint32_t at = head;
        while (records_[at].chain != index) {
            at = static_cast<std::uint32_t>(records_[at].chain);
        }
        records_[at].chain = record.chain;
    }
    record.chain = free_ & kMostRecords;
    free_ = index;
    ++free_count_;
}

void RecordPool::chain(std::uint32_t index) noexcept {
    std::uint32_t& head = heads_[head_of(records_[index].account())];
    records_[index].chain = head & kMostRecords;
    head = index;
}

void RecordPool::enlist(std::uint32_t index, Instant now) noexcept {
    Record& record = records_[index];
    List& list = list_of(record);
    record.since = tick(now);
    record.before = list.last & kMostRecords;
    record.after = kNoRecord;
    if (list.last == kNoRecord) {
        list.first = index;
    } else {
        records_[list.last].after = index & kMostRecords;
    }
    list.last = index;
}

void RecordPool::delist(std::uint32_t index) noexcept {
    Record& record = records_[index];
    List& list = list_of(record);
    const auto before = static_cast<std::uint32_t>(record.before);
    const auto after = static_cast<std::uint32_t>(record.after);
    if (before == kNoRecord) {
        list.first = after;
    } else {
        records_[before].after = after & kMostRecords;
    }
    if (after == kNoRecord) {
        list.last = before;
    } else {
        records_[after].before = before & kMostRecords;
    }
}

}  // namespace sluice
