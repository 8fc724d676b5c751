#pragma once
#include "lib/base/check.hpp"
#include "lib/base/lazy_array.hpp"
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/table/unsynced_units.hpp"
#include "lib/peer/merge/record.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// The records of one worker, by account:
//
//   heads   [..][7.][..][3,8]...   hash to a record, and to a chain of others; mostly empty
//   records [r][r][r][r]...        in memory that may outlive the process
//   lists   for each owner, those with something unsent, oldest first: one of those that are due
//           soon, and some of those that are due late, by hash, each of which waits for a time of
//           its own: so that what began together is not told together for ever
//
// What is not in use is taken last given back, first: the lines in use stay few. A record is in use
// as long as it has an amount, and in a list of its owner as long as it has an unsent one.
namespace sluice {

// Whom the holder of records tells what it has charged: the other workers, each of the accounts
// that it owns; and of the holder's own the store, which is listed behind them.
struct LedgerPeers {
    static constexpr std::size_t kNobody = SIZE_MAX;

    LedgerPeers(std::size_t box_workers, std::size_t holder = kNobody, bool tells_store = false)
        : workers{box_workers}, me{holder}, store{tells_store} {}

    // Accounts that are nobody's to be told of are listed under their owner, where nobody looks.
    [[nodiscard]] std::size_t of(const Account& account) const noexcept {
        const std::size_t owner = owner_of(account, workers);
        return owner == me && store ? workers : owner;
    }
    [[nodiscard]] std::size_t count() const noexcept { return workers + (store ? 1 : 0); }

    std::size_t workers;
    std::size_t me;
    bool store;
};

class RecordPool final : public UnsyncedUnits {
public:
    // `memory` is zeroes, or what an earlier pool left there: what that one had not synced is
    // unsent again, as of `now`; but for accounts that nobody is to be told of any more. The
    // accounts, those in `memory` included, are of slots below `slots`.
    RecordPool(std::span<Record> memory, const LedgerPeers& peers, Instant now,
               std::size_t slots = kSlots);

    [[gnu::always_inline]] void prefetch(const Account& account) const noexcept {
        prefetch0(&heads_[place_of(account).head]);
    }
    [[gnu::always_inline]] void prefetch(std::uint32_t index) const noexcept {
        prefetch0(&records_[index]);
    }
    // The account's own record, once the head of its chain has come. (Without a branch: where there
    // is none, that line is there anyway.)
    [[gnu::always_inline]] void prefetch_record(const Account& account) const noexcept {
        const std::uint32_t index = likeliest(place_of(account));
        prefetch(index == kNoRecord ? 0 : index);
    }

    [[nodiscard]] const Record* find(const Account& account) const noexcept {
        const std::uint32_t index = index_of(account);
        return index == kNoRecord ? nullptr : &records_[index];
    }
    [[nodiscard]] const Record& at(std::uint32_t index) const noexcept { return records_[index]; }
    [[nodiscard]] [[gnu::always_inline]] std::uint32_t index_of(
        const Account& account) const noexcept {
        const Place place = place_of(account);
        const std::uint32_t index = likeliest(place);
        if (index == kNoRecord || records_[index].is_of(account)) [[likely]] {
            return index;
        }
        return index_in(head_at(place.head), account);
    }
    // Of an account in this window and all others.
    [[nodiscard]] std::uint64_t unsynced(const Account& account) const noexcept;
    // For other cores. Where the records of a head change all the time, or are too many to be read:
    // the most there may be, which is counted.
    [[nodiscard]] Units of(const BucketAt& at) const noexcept override;
    [[nodiscard]] std::uint64_t accounts_of(LimitSlot slot) const noexcept override {
        return by_slot_[slot].read_acquire();
    }
    [[nodiscard]] std::uint64_t reads_given_up() const noexcept { return reads_given_up_.read(); }
    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    [[nodiscard]] std::size_t free() const noexcept { return free_count_; }
    [[nodiscard]] std::size_t in_use() const noexcept { return records_.size() - free_count_; }
    // So few are left that nothing is to lie in them for long.
    [[nodiscard]] bool is_crowded() const noexcept { return free_count_ < records_.size() / 4; }

    // Adds to what is unsent of an account; kNoRecord: there is no record left. What is unsent
    // already is due no later than it was. Once a window has turned, what is left of the one before
    // is due soon.
    std::uint32_t add(const Account& account, std::uint32_t units, Instant now,
                      Due due = Due::Soon) noexcept;
    // The same for whoever has looked for its record: what index_of() said, or a new one.
    std::uint32_t add_to(std::uint32_t index, const Account& account, std::uint32_t units,
                         Instant now, Due due = Due::Soon) noexcept;
    // Adds to a record that has something unsent already, which is due as it was.
    void add_more(std::uint32_t index, std::uint32_t units) noexcept {
        Record& record = records_[index];
        record.set(std::uint64_t{record.unsent()} + units, record.sent());
    }
    // So much of what is unsent has not been charged after all.
    void take_back(std::uint32_t index, std::uint64_t units) noexcept;
    // And for an amount that is sent at once, with what was unsent before.
    std::uint32_t add_sent(std::uint32_t index, const Account& account,
                           std::uint32_t units) noexcept;
    // All that is unsent is on its way.
    void note_sent(std::uint32_t index) noexcept;
    // So much of what was sent has come back in a total.
    void note_contained(std::uint32_t index, std::uint32_t units) noexcept;
    // So much of what was sent was not applied: it is unsent again.
    void note_returned(std::uint32_t index, std::uint32_t units, Instant now,
                       Due due = Due::Soon) noexcept;
    // What is unsent will not be sent any more.
    void drop_unsent(std::uint32_t index) noexcept;

    // The lists of an owner: 0 has those that are due soon, the others those that are due late.
    static constexpr std::size_t kLateLists = 8;
    static constexpr std::size_t kLists = 1 + kLateLists;
    // The record with the oldest unsent amount of a list; kNoRecord: none.
    [[nodiscard]] std::uint32_t oldest(std::size_t owner, std::size_t list) const noexcept {
        return lists_[owner][list].first;
    }
    [[nodiscard]] std::uint32_t next_oldest(std::uint32_t index) const noexcept {
        return static_cast<std::uint32_t>(records_[index].links().after);
    }
    // Asks for the records behind the oldest, as far as can be told without reading them, and calls
    // `come` with the accounts of those that were asked for the last time.
    template <typename Come>
    void ask_behind_oldest(std::size_t owner, std::size_t of, Come&& come) noexcept {
        List& list = lists_[owner][of];
        catch_up(list);
        for (std::size_t i = 1; i <= kAhead; ++i) {
            if (const std::uint32_t index = list.order[(list.taken + i) & list.mask];
                list.taken + i < list.put && records_[index].unsent() != 0) {
                come(records_[index].account());
            }
            prefetch(list.order[(list.taken + i + kAhead) & list.mask]);
        }
    }
    // For how long something of it has been unsent.
    [[nodiscard]] Nanoseconds age(std::uint32_t index, Instant now) const noexcept {
        const std::uint32_t ticks = tick(now) - records_[index].since();
        return Nanoseconds{std::int64_t{ticks} << kTickShift};
    }

    static constexpr unsigned kTickShift = 10;

private:
    // In `order` is which record came after which, for whoever asks for them before he reads them;
    // some have left meanwhile, and where more came than it has room for the latest count.
    struct List {
        std::uint32_t first = kNoRecord;
        std::uint32_t last = kNoRecord;
        std::vector<std::uint32_t> order;
        std::uint64_t mask = 0;
        std::uint64_t put = 0;
        std::uint64_t taken = 0;  // where `first` stands, or further ahead
    };
    static constexpr std::size_t kAhead = 8;
    void catch_up(List& list) const noexcept;

    [[nodiscard]] static std::uint32_t tick(Instant at) noexcept {
        return static_cast<std::uint32_t>(at.time_since_epoch().count() >> kTickShift);
    }
    // Where an account is looked for, and by which of its bits the first there is told from others.
    struct Place {
        std::size_t head;
        std::uint32_t tag;
    };
    // The first record with its account's tag above the index, then a chain of all others, with a
    // count of changes above the index. Two at one head are the rule when many records are in use,
    // three are rare.
    //
    // A head is one word, and is stored with another count whenever a record has come to its
    // records or left them, before that record becomes anything else. So another core that finds
    // the word after its walk as it was before has walked over records of this head only, and
    // missed none that was there all the time. (The count comes round after 2048 changes within one
    // walk.)
    struct Head {
        std::uint32_t first = kNoRecord;
        std::uint32_t others = kNoRecord;

        [[nodiscard]] std::uint32_t first_index() const noexcept { return first & kMostRecords; }
        [[nodiscard]] std::uint32_t others_index() const noexcept { return others & kMostRecords; }
        void set_others(std::uint32_t index) noexcept {
            others = (others & ~kMostRecords) | (index & kMostRecords);
        }
    };
    static constexpr unsigned kIndexBits = 21;
    [[nodiscard]] Head head_at(std::size_t at) const noexcept {
        return std::bit_cast<Head>(heads_[at]);
    }
    // After a change of the records there; what is done to them afterwards comes after it.
    void store_head(std::size_t at, Head head) noexcept {
        head.others += std::uint32_t{1} << kIndexBits;
        store_word(heads_[at], std::bit_cast<std::uint64_t>(head));
    }

    [[nodiscard]] Place place_of(const Account& account) const noexcept {
        const std::uint64_t bits = mixed(account);
        return {bits & (head_count_ - 1), static_cast<std::uint32_t>(bits >> 32) << kIndexBits};
    }
    // The record that the account has if it has one, but for what is rare; kNoRecord: it has none.
    [[nodiscard]] std::uint32_t likeliest(const Place& place) const noexcept {
        const Head head = head_at(place.head);
        const bool is_first = (head.first ^ place.tag) < kNoRecord;
        return (is_first ? head.first : head.others) & kMostRecords;
    }
    [[nodiscard]] std::uint32_t index_in(Head head, const Account& account) const noexcept;
    // Of all windows of an account, and of others beside it.
    template <typename Fn>
    void each_at(const Account& account, Fn&& fn) const noexcept;
    [[nodiscard]] List& list_of(const Account& account, Due due) noexcept {
        const std::size_t late = 1 + mixed(account) % kLateLists;
        return lists_[peers_.of(account)][due == Due::Late ? late : 0];
    }
    [[nodiscard]] std::optional<std::uint64_t> look_up(const Account& account) const noexcept;
    std::uint32_t open(const Account& account) noexcept;
    void close_if_done(std::uint32_t index) noexcept;
    void enlist(std::uint32_t index, Instant now, Due due) noexcept;
    void hurry(std::uint32_t index, Instant now) noexcept;
    void hurry_earlier_windows(const Account& account, Instant now) noexcept;
    void delist(std::uint32_t index) noexcept;
    void set_after(std::uint32_t index, std::uint32_t after) noexcept;
    void chain(std::uint32_t index) noexcept;
    void unchain(std::uint32_t index) noexcept;

    std::span<Record> records_;
    LedgerPeers peers_;
    std::size_t head_count_;
    LineMemory head_memory_;
    std::uint64_t* heads_;                         // Head
    std::vector<std::array<List, kLists>> lists_;  // by peer
    std::uint32_t free_ = kNoRecord;
    std::size_t free_count_ = 0;
    LazyArray<Counter> by_slot_;  // records in use
    mutable SharedCounter reads_given_up_;
};

}  // namespace sluice
