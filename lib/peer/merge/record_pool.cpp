#include "lib/peer/merge/record_pool.hpp"

#include "lib/base/check.hpp"

#include <algorithm>
#include <bit>

namespace sluice {

RecordPool::RecordPool(std::span<Record> memory, const LedgerPeers& peers, Instant now,
                       std::size_t slots)
    : records_{memory.first(std::min<std::size_t>(memory.size(), kMostRecords))},
      peers_{peers},
      head_count_{std::bit_ceil(std::max<std::size_t>(records_.size(), 2))},
      head_memory_{head_count_ * sizeof(Head)},
      heads_{static_cast<std::uint64_t*>(head_memory_.data())},
      lists_(peers.count()),
      by_slot_{zeroed_array<Counter>(slots)} {
    std::fill_n(heads_, head_count_, std::bit_cast<std::uint64_t>(Head{}));
    for (auto& lists : lists_) {
        for (List& list : lists) {
            list.order.resize(
                std::bit_ceil(records_.size() / peers.count() / kLateLists + 2 * kAhead));
            list.mask = list.order.size() - 1;
        }
    }
    for (std::size_t i = records_.size(); i-- > 0;) {
        const auto index = static_cast<std::uint32_t>(i);
        Record& record = records_[i];
        if (peers.of(record.account()) == peers.me) {
            record.set(0, 0);
        }
        if (record.deltas == 0) {
            record.set_chain(free_);
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
std::uint32_t RecordPool::index_in(Head head, const Account& account) const noexcept {
    const std::uint32_t first = head.first_index();
    if (first != kNoRecord && records_[first].is_of(account)) {
        return first;
    }
    std::uint32_t index = head.others_index();
    while (index != kNoRecord && !records_[index].is_of(account)) {
        index = records_[index].chain();
    }
    return index;
}

template <typename Fn>
void RecordPool::each_at(const Account& account, Fn&& fn) const noexcept {
    const Head head = head_at(place_of(account).head);
    if (const std::uint32_t first = head.first_index(); first != kNoRecord) {
        fn(first);
    }
    for (std::uint32_t at = head.others_index(); at != kNoRecord; at = records_[at].chain()) {
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

// Another core's record.
Record read_whole(const Record& record) noexcept {
    return {.hash = load_word(record.hash),
            .deltas = load_word(record.deltas),
            .link_word = load_word(record.link_word),
            .name_since = load_word(record.name_since)};
}

}  // namespace

// By another core, while this one goes on. nullopt: records have come to this head or left it
// meanwhile, or are too many.
std::optional<std::uint64_t> RecordPool::look_up(const Account& account) const noexcept {
    constexpr int kMostSteps = 64;
    const std::uint64_t& word = heads_[place_of(account).head];
    const std::uint64_t before = load_word(word);
    const auto head = std::bit_cast<Head>(before);
    std::uint64_t units = 0;
    const auto read = [&](std::uint32_t index) {
        const Record record = read_whole(records_[index]);
        units += record.account().has_key_of(account) ? record.unsynced() : 0;
        return record.chain();
    };
    if (head.first_index() != kNoRecord) {
        (void)read(head.first_index());
    }
    std::uint32_t index = head.others_index();
    for (int steps = 0; index != kNoRecord; ++steps) {
        if (steps == kMostSteps) {
            return std::nullopt;
        }
        index = read(index);
    }
    return load_word(word) == before ? std::optional{units} : std::nullopt;
}

Units RecordPool::of(const BucketAt& at) const noexcept {
    constexpr int kTries = 8;
    const Account account{at.key.hash, slot_of(at.key), at.aggregation_level};
    for (int tries = 0; tries < kTries; ++tries) {
        if (const std::optional<std::uint64_t> units = look_up(account)) {
            return Units{*units};
        }
    }
    if (accounts_of(account.slot) == 0) {
        return Units{0};
    }
    // As if it were all that there may be.
    reads_given_up_.add(1);
    return Units{UINT32_MAX};
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
    } else if (due == Due::Soon && records_[index].due() == Due::Late) {
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

void RecordPool::note_returned(std::uint32_t index, std::uint32_t units, Instant now,
                               Due due) noexcept {
    Record& record = records_[index];
    SLUICE_CHECK(units <= record.sent());
    const bool listed = record.unsent() != 0;
    record.set(std::uint64_t{record.unsent()} + units, record.sent() - units);
    if (!listed) {
        enlist(index, now, due);
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
    free_ = record.chain();
    --free_count_;
    // What was there before is nobody's before it has another name.
    record.set(account);
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
    record.set_chain(free_);
    free_ = index;
    ++free_count_;
}

void RecordPool::chain(std::uint32_t index) noexcept {
    const Place place = place_of(records_[index].account());
    Head head = head_at(place.head);
    by_slot_[records_[index].account().slot].add(1);
    if (head.first == kNoRecord) {
        head.first = place.tag | index;
    } else {
        records_[index].set_chain(head.others_index());
        head.set_others(index);
    }
    store_head(place.head, head);
}

void RecordPool::unchain(std::uint32_t index) noexcept {
    const std::size_t place = place_of(records_[index].account()).head;
    Head head = head_at(place);
    if (head.first_index() == index) {
        head.first = kNoRecord;
    } else if (head.others_index() == index) {
        head.set_others(records_[index].chain());
    } else {
        std::uint32_t at = head.others_index();
        while (records_[at].chain() != index) {
            at = records_[at].chain();
        }
        records_[at].set_chain(records_[index].chain());
    }
    store_head(place, head);
}

void RecordPool::enlist(std::uint32_t index, Instant now, Due due) noexcept {
    Record& record = records_[index];
    List& list = list_of(record.account(), due);
    record.set_since(tick(now));
    record.set({.chain = record.links().chain,
                .before = list.last & kMostRecords,
                .after = kNoRecord,
                .late = due == Due::Late});
    if (list.last == kNoRecord) {
        list.first = index;
    } else {
        set_after(list.last, index);
    }
    list.last = index;
    list.order[list.put++ & list.mask] = index;
}

void RecordPool::set_after(std::uint32_t index, std::uint32_t after) noexcept {
    Record::Links links = records_[index].links();
    links.after = after & kMostRecords;
    records_[index].set(links);
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
    List& list = list_of(record.account(), record.due());
    const auto before = static_cast<std::uint32_t>(record.links().before);
    const auto after = static_cast<std::uint32_t>(record.links().after);
    if (before == kNoRecord) {
        list.first = after;
    } else {
        set_after(before, after);
    }
    if (after == kNoRecord) {
        list.last = before;
    } else {
        Record::Links links = records_[after].links();
        links.before = before & kMostRecords;
        records_[after].set(links);
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
        if (record.account().has_key_of(account) && record.unsent() != 0 &&
            record.due() == Due::Late) {
            hurry(at, now);
        }
    });
}

}  // namespace sluice
