#pragma once
#include "lib/ledger/account.hpp"
#include "lib/share/word.hpp"

#include <cstdint>

namespace sluice {

inline constexpr std::uint32_t kMostRecords = (std::uint32_t{1} << 21) - 1;
inline constexpr std::uint32_t kNoRecord = kMostRecords;

// What a worker has charged to an account and the total it holds does not contain yet. Half of it
// not sent, half on its way; both in one word, so that no instant at which the process may be
// killed finds an amount in neither. All zeroes: nobody's.
struct Record {
    std::uint64_t hash = 0;
    std::uint64_t amounts = 0;  // unsent: low 32 bits; sent: high 32
    std::uint64_t chain : 21 = 0;
    std::uint64_t before : 21 = 0;  // in the list of its owner; only while something is unsent
    std::uint64_t after : 21 = 0;
    std::uint64_t : 1;
    std::uint64_t since : 32 = 0;  // when the oldest unsent unit was charged, in 2^10 ns
    std::uint64_t slot : 15 = 0;
    std::uint64_t step : 2 = 0;
    std::uint64_t turn : 15 = 0;

    [[nodiscard]] std::uint32_t unsent() const noexcept {
        return static_cast<std::uint32_t>(amounts);
    }
    [[nodiscard]] std::uint32_t sent() const noexcept {
        return static_cast<std::uint32_t>(amounts >> 32);
    }
    [[nodiscard]] std::uint64_t unsynced() const noexcept {
        return std::uint64_t{unsent()} + sent();
    }
    void set(std::uint64_t unsent, std::uint64_t sent) noexcept {
        store_word(amounts, (sent << 32) | unsent);
    }
    [[nodiscard]] Account account() const noexcept {
        return {hash, static_cast<LimitSlot>(slot), static_cast<std::uint8_t>(step),
                static_cast<Turn>(turn)};
    }
};
static_assert(sizeof(Record) == 32, "two to a line");

}  // namespace sluice
