#pragma once
#include "lib/bucket/table/remote_debt.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>

namespace sluice {

// A key of a limit that has no entry here and owes something in tables of earlier processes, which
// are only read: it is filed with that debt without a packet, and can then be given some of it
// back.
class KeyTakeOver {
public:
    // `bytes` outlive it.
    KeyTakeOver(const LoadedLimit& limit, const KeyBytes& bytes, CoreState& core, Now now) noexcept
        : limit_{limit},
          bytes_{bytes},
          core_{core},
          now_{now},
          elsewhere_{core.buckets, now},
          key_{core.hash(limit.identity, bytes.view()), limit.slot} {}

    // Not while keys move and another worker has taken it over; nor of open connections, which end
    // by themselves.
    [[nodiscard]] bool is_possible() const noexcept;
    // Files the key as its next packet would; with at most `left`, which wider keys leave it.
    // nullptr: there is no place, or no line in the pool.
    [[nodiscard]] Entry* file(const OwnNumbers& own, Units left,
                              std::uint8_t rule_level) const noexcept;

private:
    void owe_from_start(Cell& cell, Units left, std::uint8_t rule_level) const noexcept;
    [[nodiscard]] TableKey wider_key(const KeyBytes& network) const noexcept {
        return {core_.hash(limit_.identity, network.view()), limit_.slot};
    }

    const LoadedLimit& limit_;
    const KeyBytes& bytes_;
    CoreState& core_;
    Now now_;
    RemoteDebt elsewhere_;
    TableKey key_;
};

}  // namespace sluice
