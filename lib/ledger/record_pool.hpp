#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/units.hpp"
#include "lib/ledger/record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// The records of one worker, by account:
//
//   heads   [ . ][ 7 ][ . ]...     hash to a chain; mostly empty, one line looked at
//   records [r][r][r][r]...        in memory that may outlive the process
//   lists   for each owner, those with something unsent, oldest first
//
// What is not in use is taken last given back, first: the lines in use stay few. A record is in use
// as long as it has an amount, and in its owner's list as long as it has an unsent one.
namespace sluice {

class RecordPool {
public:
    // `memory` is zeroes, or what an earlier pool left there: what that one had not synced is
    // unsent again, as of `now`.
    RecordPool(std::span<Record> memory, std::size_t workers, Instant now);

    // (Inline whatever happens: GCC takes a function that only prefetches for one without effect,
    // and drops the call.)
    [[gnu::always_inline]] void prefetch(const Account& account) const noexcept {
        __builtin_prefetch(&heads_[head_of(account)]);
    }
    [[gnu::always_inline]] void prefetch(std::uint32_t index) const noexcept {
        __builtin_prefetch(&records_[index], 1);
    }
    // The account's own record, once the chain that it is in has come.
    [[gnu::always_inline]] void prefetch_record(const Account& account) const noexcept {
        const std::uint32_t index = heads_[head_of(account)];
        if (index != kNoRecord) {
            prefetch(index);
        }
    }

    [[nodiscard]] const Record* find(const Account& account) const noexcept {
        const std::uint32_t index = index_of(account);
        return index == kNoRecord ? nullptr : &records_[index];
    }
    [[nodiscard]] const Record& at(std::uint32_t index) const noexcept { return records_[index]; }
    [[nodiscard]] std::uint32_t index_of(const Account& account) const noexcept;
    [[nodiscard]] std::size_t free() const noexcept { return free_count_; }
    [[nodiscard]] std::size_t in_use() const noexcept { return records_.size() - free_count_; }

    // Adds to what is unsent of an account; kNoRecord: there is no record left.
    std::uint32_t add(const Account& account, std::uint32_t units, Instant now) noexcept;
    // The same for whoever has looked for its record: what index_of() said, or a new one.
    std::uint32_t add_to(std::uint32_t index, const Account& account, std::uint32_t units,
                         Instant now) noexcept;
    // And for an amount that is sent at once, with what was unsent before.
    std::uint32_t add_sent(std::uint32_t index, const Account& account,
                           std::uint32_t units) noexcept;
    // All that is unsent is on its way.
    void note_sent(std::uint32_t index) noexcept;
    // So much of what was sent has come back in a total.
    void note_contained(std::uint32_t index, std::uint32_t units) noexcept;
    // So much of what was sent was not applied: it is unsent again.
    void note_returned(std::uint32_t index, std::uint32_t units, Instant now) noexcept;
    // What is unsent will not be sent any more.
    void drop_unsent(std::uint32_t index) noexcept;

    // The record with the oldest unsent amount for an owner; kNoRecord: none.
    [[nodiscard]] std::uint32_t oldest(std::size_t owner) const noexcept {
        return lists_[owner].first;
    }
    [[nodiscard]] std::uint32_t next_oldest(std::uint32_t index) const noexcept {
        return static_cast<std::uint32_t>(records_[index].after);
    }
    // For how long something of it has been unsent.
    [[nodiscard]] Nanoseconds age(std::uint32_t index, Instant now) const noexcept {
        const std::uint32_t ticks = tick(now) - static_cast<std::uint32_t>(records_[index].since);
        return Nanoseconds{std::int64_t{ticks} << kTickShift};
    }

    static constexpr unsigned kTickShift = 10;

private:
    struct List {
        std::uint32_t first = kNoRecord;
        std::uint32_t last = kNoRecord;
    };

    [[nodiscard]] static std::uint32_t tick(Instant at) noexcept {
        return static_cast<std::uint32_t>(at.time_since_epoch().count() >> kTickShift);
    }
    [[nodiscard]] std::size_t head_of(const Account& account) const noexcept {
        return mixed(account) & (head_count_ - 1);
    }
    [[nodiscard]] List& list_of(const Record& record) noexcept {
        return lists_[owner_of(record.account(), lists_.size())];
    }
    std::uint32_t open(const Account& account) noexcept;
    void close_if_done(std::uint32_t index) noexcept;
    void enlist(std::uint32_t index, Instant now) noexcept;
    void delist(std::uint32_t index) noexcept;
    void chain(std::uint32_t index) noexcept;

    std::span<Record> records_;
    std::size_t head_count_;
    LineMemory head_memory_;
    std::uint32_t* heads_;
    std::vector<List> lists_;
    std::uint32_t free_ = kNoRecord;
    std::size_t free_count_ = 0;
};

}  // namespace sluice
