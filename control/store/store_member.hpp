#pragma once
#include "control/store/store_fault.hpp"
#include "control/store/sync_call.hpp"
#include "lib/wire/store_messages.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// The box as a member of its cluster: its slot, and its incarnation.
class StoreMember {
public:
    explicit StoreMember(StoreHello hello) : hello_{std::move(hello)} {}

    [[nodiscard]] const StoreHello& hello() const noexcept { return hello_; }
    [[nodiscard]] bool joined() const noexcept { return joined_; }
    [[nodiscard]] std::uint16_t slot() const noexcept { return slot_; }
    [[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }
    // Why it has no slot, as the store says.
    [[nodiscard]] const std::optional<StoreFault>& fault() const noexcept { return fault_; }

    // True of a box with another size or secret than the cluster's.
    [[nodiscard]] bool differs() const noexcept { return differs_; }

    // The call by which it asks for its slot.
    [[nodiscard]] std::string joins(CallBy by) const;
    // The call by which it frees its name for its next life.
    [[nodiscard]] std::string leaves(CallBy by) const;
    void take(const JoinAnswer& answer);
    // An amount of it was refused. True: the slot is to be asked for again.
    [[nodiscard]] bool fenced(const StoreAnswerTo& answer);
    void lose() noexcept { joined_ = false; }

private:
    [[nodiscard]] Joining joining() const;

    StoreHello hello_;
    bool joined_ = false;
    bool differs_ = false;
    std::uint16_t slot_ = 0;
    std::uint64_t incarnation_ = 0;
    std::uint64_t seen_ = 0;  // the latest incarnation that fenced it
    std::optional<StoreFault> fault_;
};

}  // namespace sluice
