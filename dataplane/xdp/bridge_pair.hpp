#pragma once
#include "dataplane/xdp/boxed_bans.hpp"
#include "dataplane/xdp/early_drop_table.hpp"
#include "dataplane/xdp/early_drops.hpp"
#include "dataplane/xdp/kernel_bridge.hpp"
#include "dataplane/xdp/pair_map.hpp"
#include "dataplane/xdp/port_program.hpp"
#include "lib/rules/load/early_drop.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The programs of one pair: [0] outside, [1] inside.
struct KernelBridge::Pair {
    std::string name;
    KernelOptions options;
    PairMap map;
    std::array<PortPlace, 2> places;
    std::array<std::optional<PortProgram>, 2> programs;
    std::array<EarlyDropTable, 2> tables;
    std::array<std::unique_ptr<EarlyDropProof>, 2> proofs;  // none: nothing may be dropped early
    std::array<std::uint64_t, 2> left_out{};                // of what could be dropped early
    bool told_refused = false;  // that a program cannot be attached again, said once
    std::uint64_t untold = 0;   // packets that were bridged
    std::uint64_t told_at = 0;  // CLOCK_MONOTONIC, ns

    // To interfaces that were deleted and are there again.
    void attach_again();
    void remove_ended(std::uint64_t now);
    // The log names what a veth lacks for frames that the kernel forwards to arrive.
    void warn_of_veth() const;
    [[nodiscard]] Result<Done> attach_port(const PairConfig& config, std::size_t side,
                                           const BoxConfig& box, const std::string& folder);
    // Rules, and what is in their penalty boxes already.
    struct Droppable {
        const LoadedRules* rules = nullptr;  // nullptr: nothing may be dropped early
        std::vector<BoxedBans::Carried> boxed{};
    };
    // True if some of it ends.
    [[nodiscard]] bool drop_early(std::size_t side, const Droppable& what, const ClockPair& now);
    [[nodiscard]] bool is_attached(std::size_t side) const;
    [[nodiscard]] bool box_decides(std::uint64_t now) const noexcept {
        return now <= map.last_beat() + static_cast<std::uint64_t>(options.heartbeat.count());
    }
};

}  // namespace sluice
