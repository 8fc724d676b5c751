#pragma once
#include "dataplane/xdp/boxed_bans.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/watch/events/new_bans.hpp"
#include "lib/wire/message.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The programs in the kernel at pairs of af_xdp ports: they give frames to the box while it beats,
// and forward or drop them by themselves while it does not. They stay when the process ends.
class KernelBridge {
public:
    // Before the ports start, whose sockets join the programs. Nothing where the box has no
    // `kernel`.
    [[nodiscard]] static Result<std::unique_ptr<KernelBridge>> attach(const BoxConfig& box);
    ~KernelBridge();
    KernelBridge(const KernelBridge&) = delete;
    KernelBridge& operator=(const KernelBridge&) = delete;

    // All workers are known to have run at that instant of CLOCK_MONOTONIC, in ns.
    void beat(std::uint64_t at) noexcept;
    // Leaves the decision about frames to the kernel from now on.
    void end() noexcept;
    using TellBridged = std::function<void(const std::string& pair, std::uint64_t packets)>;
    // Attaches anew to interfaces that were deleted and are there again, gives back the places of
    // bans that have ended, and tells what was bridged while no box was there, once it is over and
    // every second.
    void watch(const TellBridged& tell);
    // Lets the programs drop early, from its return on, what these rules allow them to, and nothing
    // that others did. nullptr: nothing.
    void drop_early(std::shared_ptr<const LoadedRules> rules);
    // True if workers are to tell which bans begin.
    [[nodiscard]] bool asks_for_bans() const noexcept;
    // A worker has told that a source went into a penalty box: it is dropped as long as rules have
    // the box, over their changes.
    void note_ban(const NewBan& ban);
    // Counts bans that the worker could not tell: the box drops what they refuse.
    void lose_bans(std::uint64_t bans);
    // A key is no longer banned, whoever banned it.
    void lift(ByteView key);
    // True if ends of bans come at another time than was meant: somebody has set the clock.
    [[nodiscard]] bool is_off_time() const;
    // Packets, by row of rule counters.
    [[nodiscard]] std::uint64_t early_dropped(std::uint32_t row) const;
    // Adds what the kernel's own map of a port has about a network; the port is the answer's last.
    void find_drops(const FindEarlyDrops& asked, FoundEarlyDrops& answer) const;
    // The counts of a port; nothing where its pair has no program.
    [[nodiscard]] KernelPortStats stats(std::string_view pair, std::string_view side) const;

private:
    struct Pair;
    KernelBridge();
    [[nodiscard]] Result<Done> attach_pair(const BoxConfig& box, const PairConfig& config);

    std::vector<std::unique_ptr<Pair>> pairs_;
    std::shared_ptr<const LoadedRules> rules_;  // that allow it
    bool may_drop_early_ = false;               // what the rules prove is all that decides
    BoxedBans boxed_;                           // that began under them, or those before
    std::vector<NewBan> unmet_;                 // of rules that are not here yet
    bool has_ends_ = false;                     // of what is dropped early, some ends
    Nanoseconds clock_lead_{};                  // of UTC, as those ends were told
};

}  // namespace sluice
