#pragma once
#include "lib/ledger/account.hpp"
#include "lib/share/word.hpp"

#include <cstdint>

namespace sluice {

inline constexpr std::uint32_t kMostRecords = (std::uint32_t{1} << 21) - 1;
inline constexpr std::uint32_t kNoRecord = kMostRecords;

// When something unsent is to be sent.
enum class Due : std::uint8_t {
    Soon,  // at the latest after a merge interval
    Late,  // the account is far from its limit: after much longer, unless records get few
};

// An account, but for its hash, as a record names it.
[[nodiscard]] constexpr std::uint32_t name_of(const Account& account) noexcept {
    return (account.slot & 0x7FFFU) | (account.aggregation_level & 3U) << 15 |
           static_cast<std::uint32_t>(account.turn) << 17;
}

// What a worker has charged to an account and the total it holds does not contain yet. Half of it
// not sent, half on its way; both in one word, so that no instant at which the process may be
// killed finds an amount in neither. All zeroes: nobody's.
struct Record {
    std::uint64_t hash = 0;
    std::uint64_t deltas = 0;  // unsent: low 32 bits; sent: high 32
    std::uint64_t chain : 21 = 0;
    std::uint64_t before : 21 = 0;  // in the list of its owner; only while something is unsent
    std::uint64_t after : 21 = 0;
    std::uint64_t late : 1 = 0;  // in the list of those that are due late
    std::uint32_t since = 0;     // when the oldest unsent unit was charged, in 2^10 ns
    std::uint32_t name = 0;      // name_of() the account

    [[nodiscard]] std::uint32_t unsent() const noexcept {
        return static_cast<std::uint32_t>(deltas);
    }
    [[nodiscard]] std::uint32_t sent() const noexcept {
        return static_cast<std::uint32_t>(deltas >> 32);
    }
    [[nodiscard]] std::uint64_t unsynced() const noexcept {
        return std::uint64_t{unsent()} + sent();
    }
    void set(std::uint64_t unsent, std::uint64_t sent) noexcept {
        store_word(deltas, (sent << 32) | unsent);
    }
    [[nodiscard]] Account account() const noexcept {
        return {hash, static_cast<LimitSlot>(name & 0x7FFFU),
                static_cast<std::uint8_t>(name >> 15 & 3U), static_cast<Turn>(name >> 17)};
    }
    [[nodiscard]] bool is_of(const Account& account) const noexcept {
        return hash == account.hash && name == name_of(account);
    }
    [[nodiscard]] Due due() const noexcept { return late != 0 ? Due::Late : Due::Soon; }
};
static_assert(sizeof(Record) == 32, "two to a line");

}  // namespace sluice
