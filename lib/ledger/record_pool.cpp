#include "lib/ledger/record_pool.hpp"

#include "lib/base/check.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

RecordPool::RecordPool(std::span<Record> memory, std::size_t workers, Instant now)
    : records_{memory.first(std::min<std::size_t>(memory.size(), kMostRecords))},
      head_count_{std::bit_ceil(std::max<std::size_t>(records_.size(), 2))},
      head_memory_{head_count_ * sizeof(Head)},
      heads_{static_cast<Head*>(head_memory_.data())},
      lists_(workers),
      by_slot_{std::make_unique<Counter[]>(kSlots)} {
    std::fill_n(heads_, head_count_, Head{});
    for (auto& lists : lists_) {
        for (List& list : lists) {
            list.order.resize(std::bit_ceil(records_.size() / workers / kLateLists + 2 * kAhead));
            list.mask = list.order.size() - 1;
        }
    }
    for (std::size_t i = records_.size(); i-- > 0;) {
        const auto index = static_cast<std::uint32_t>(i);
        Record& record = records_[i];
        if (record.deltas == 0) {
            record.chain = free_ & kMostRecords;
            free_ = index;
            ++free_count_;
            continue;
        }
        // Nobody knows what became of what was sent: counting twice is allowed, losing is not.
        record.set(std::min<std::uint64_t>(record.unsynced(), UINT32_MAX), 0);
        chain(index);
        enlist(index, now, Due::Soon);
    }
}

// The first may be of another account with the same tag.
std::uint32_t RecordPool::index_in(const Head& head, const Account& account) const noexcept {
    const std::uint32_t first = head.first & kMostRecords;
    if (first != kNoRecord && records_[first].is_of(account)) {
        return first;
    }
    std::uint32_t index = head.others;
    while (index != kNoRecord && !records_[index].is_of(account)) {
        index = static_cast<std::uint32_t>(records_[index].chain);
    }
    return index;
}

template <typename Fn>
void RecordPool::each_at(const Account& account, Fn&& fn) const noexcept {
    const Head& head = heads_[place_of(account).head];
    if (const std::uint32_t first = head.first & kMostRecords; first != kNoRecord) {
        fn(first);
    }
    for (std::uint32_t at = head.others; at != kNoRecord;
         at = static_cast<std::uint32_t>(records_[at].chain)) {
        fn(at);
    }
}

// All windows of an account begin at one head; without windows there is but one record.
std::uint64_t RecordPool::unsynced(const Account& account) const noexcept {
    if (account.turn == 0) {
        const Record* record = find(account);
        return record == nullptr ? 0 : record->unsynced();
    }
    std::uint64_t units = 0;
    each_at(account, [&](std::uint32_t at) {
        const Record& record = records_[at];
        units += record.account().has_key_of(account) ? record.unsynced() : 0;
    });
    return units;
}

namespace {

// Another core's record. Its links come first and its amounts last: one that has amounts, and is
// the account's that it was, had those links.
Record read_whole(const Record& record) noexcept {
    std::array<std::uint64_t, sizeof(Record) / sizeof(std::uint64_t)> words;
    const auto* from = reinterpret_cast<const std::uint64_t*>(&record);
    for (const std::size_t i : {2, 3, 0, 1}) {
        words[i] = load_word(from[i]);
    }
    return std::bit_cast<Record>(words);
}

}  // namespace

// By another core, while this one goes on. nullopt: a record on the way has just become another
// account's.
std::optional<std::uint64_t> RecordPool::look_up(const Account& account) const noexcept {
    constexpr int kMostSteps = 64;
    const std::size_t at = place_of(account).head;
    const auto head =
        std::bit_cast<Head>(load_word(reinterpret_cast<const std::uint64_t&>(heads_[at])));
    std::uint64_t units = 0;
    std::uint32_t index = head.first & kMostRecords;
    std::uint32_t next = head.others;
    for (int steps = 0; steps < kMostSteps; ++steps) {
        if (index != kNoRecord) {
            const Record record = read_whole(records_[index]);
            const bool is_first = steps == 0;
            if (record.deltas == 0 || place_of(record.account()).head != at) {
                if (!is_first) {
                    return std::nullopt;
                }
            } else {
                units += record.account().has_key_of(account) ? record.unsynced() : 0;
            }
            next = is_first ? next : static_cast<std::uint32_t>(record.chain);
        }
        if (next == kNoRecord) {
            return units;
        }
        index = next;
    }
    return std::nullopt;
}

Units RecordPool::of(const BucketAt& at) const noexcept {
    constexpr int kTries = 8;
    const Account account{at.key.hash, slot_of(at.key), at.aggregation_level};
    for (int tries = 0; tries < kTries; ++tries) {
        if (const std::optional<std::uint64_t> units = look_up(account)) {
            return Units{*units};
        }
    }
    // As if it were all that there may be.
    return accounts_of(account.slot) == 0 ? Units{0} : Units{UINT32_MAX};
}

std::uint32_t RecordPool::add(const Account& account, std::uint32_t units, Instant now,
                              Due due) noexcept {
    return add_to(index_of(account), account, units, now, due);
}

std::uint32_t RecordPool::add_to(std::uint32_t index, const Account& account, std::uint32_t units,
                                 Instant now, Due due) noexcept {
    if (index == kNoRecord) {
        if (account.turn != 0) {
            hurry_earlier_windows(account, now);
        }
        index = open(account);
        if (index == kNoRecord) {
            return kNoRecord;
        }
    }
    const bool listed = records_[index].unsent() != 0;
    add_more(index, units);
    if (!listed) {
        enlist(index, now, due);
    } else if (due == Due::Soon && records_[index].late != 0) {
        hurry(index, now);
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

void RecordPool::take_back(std::uint32_t index, std::uint64_t units) noexcept {
    Record& record = records_[index];
    SLUICE_CHECK(units <= record.unsent());
    if (units == record.unsent()) {
        drop_unsent(index);
    } else {
        record.set(record.unsent() - units, record.sent());
    }
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
        enlist(index, now, Due::Soon);
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
    // What was there before is nobody's before it has another name.
    keep_store_order();
    record.hash = account.hash;
    record.name = name_of(account);
    chain(index);
    return index;
}

void RecordPool::close_if_done(std::uint32_t index) noexcept {
    Record& record = records_[index];
    if (record.deltas != 0) {
        return;
    }
    unchain(index);
    Counter& in_use = by_slot_[record.account().slot];
    in_use.set_release(in_use.read() - 1);  // the owner's entry comes before
    record.chain = free_ & kMostRecords;
    free_ = index;
    ++free_count_;
}

void RecordPool::chain(std::uint32_t index) noexcept {
    const Place place = place_of(records_[index].account());
    Head& head = heads_[place.head];
    by_slot_[records_[index].account().slot].add(1);
    if (head.first == kNoRecord) {
        head.first = place.tag | index;
        return;
    }
    records_[index].chain = head.others & kMostRecords;
    head.others = index;
}

void RecordPool::unchain(std::uint32_t index) noexcept {
    Head& head = heads_[place_of(records_[index].account()).head];
    if ((head.first & kMostRecords) == index) {
        head.first = kNoRecord;
    } else if (head.others == index) {
        head.others = static_cast<std::uint32_t>(records_[index].chain);
    } else {
        std::uint32_t at = head.others;
        while (records_[at].chain != index) {
            at = static_cast<std::uint32_t>(records_[at].chain);
        }
        records_[at].chain = records_[index].chain;
    }
}

void RecordPool::enlist(std::uint32_t index, Instant now, Due due) noexcept {
    Record& record = records_[index];
    record.late = due == Due::Late ? 1 : 0;
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
    list.order[list.put++ & list.mask] = index;
}

void RecordPool::catch_up(List& list) const noexcept {
    constexpr std::size_t kSteps = 64;
    if (list.put - list.taken > list.order.size()) {
        list.taken = list.put - list.order.size();
    }
    for (std::size_t i = 0;
         i < kSteps && list.taken < list.put && list.order[list.taken & list.mask] != list.first;
         ++i) {
        ++list.taken;
    }
}

void RecordPool::delist(std::uint32_t index) noexcept {
    const Record& record = records_[index];
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

// A whole merge interval is left: what is sent much later than it was charged need not be sent at
// once when it matters.
void RecordPool::hurry(std::uint32_t index, Instant now) noexcept {
    delist(index);
    enlist(index, now, Due::Soon);
}

// U is for all windows of an account together, so that what lies in one that has ended would be
// missing in the next.
void RecordPool::hurry_earlier_windows(const Account& account, Instant now) noexcept {
    each_at(account, [&](std::uint32_t at) {
        const Record& record = records_[at];
        if (record.account().has_key_of(account) && record.unsent() != 0 && record.late != 0) {
            hurry(at, now);
        }
    });
}

}  // namespace sluice
