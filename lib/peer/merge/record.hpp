#pragma once
#include "lib/peer/merge/account.hpp"
#include "lib/share/word.hpp"

#include <bit>
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
//
// Four words, each of which is stored whole: other cores read them at any time.
struct Record {
    struct Links {
        std::uint64_t chain : 21 = 0;   // in use: of those at one head; else: of the free ones
        std::uint64_t before : 21 = 0;  // in the list of its owner; only while something is unsent
        std::uint64_t after : 21 = 0;
        std::uint64_t late : 1 = 0;  // in the list of those that are due late
    };
    static_assert(sizeof(Links) == sizeof(std::uint64_t));

    std::uint64_t hash = 0;
    std::uint64_t deltas = 0;      // unsent: low 32 bits; sent: high 32
    std::uint64_t link_word = 0;   // Links
    std::uint64_t name_since = 0;  // since() in the low 32 bits, name() in the high ones

    [[nodiscard]] Links links() const noexcept { return std::bit_cast<Links>(link_word); }
    void set(Links links) noexcept { store_word(link_word, std::bit_cast<std::uint64_t>(links)); }
    [[nodiscard]] std::uint32_t chain() const noexcept {
        return static_cast<std::uint32_t>(links().chain);
    }
    void set_chain(std::uint32_t index) noexcept {
        Links changed = links();
        changed.chain = index & kMostRecords;
        set(changed);
    }
    // When the oldest unsent unit was charged, in 2^10 ns.
    [[nodiscard]] std::uint32_t since() const noexcept {
        return static_cast<std::uint32_t>(name_since);
    }
    void set_since(std::uint32_t tick) noexcept {
        store_word(name_since, std::uint64_t{name()} << 32 | tick);
    }
    // name_of() the account.
    [[nodiscard]] std::uint32_t name() const noexcept {
        return static_cast<std::uint32_t>(name_since >> 32);
    }
    // Another account's from now on.
    void set(const Account& account) noexcept {
        store_word(hash, account.hash);
        store_word(name_since, std::uint64_t{name_of(account)} << 32 | since());
    }
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
        return {hash, static_cast<LimitSlot>(name() & 0x7FFFU),
                static_cast<std::uint8_t>(name() >> 15 & 3U), static_cast<Turn>(name() >> 17)};
    }
    [[nodiscard]] bool is_of(const Account& account) const noexcept {
        return hash == account.hash && name() == name_of(account);
    }
    [[nodiscard]] Due due() const noexcept { return links().late != 0 ? Due::Late : Due::Soon; }
};
static_assert(sizeof(Record) == 32, "two to a line");

}  // namespace sluice
