#pragma once
#include "lib/base/result.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/worker/packet_question.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/match/text_scratch.hpp"
#include "lib/rules/load/loaded_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// A frame that has not come, and where it would.
struct AskedArrival {
    FrameView frame;
    Direction dir = Direction::In;
    std::uint64_t pair = 0;  // port_name() of it
};

// Memory of connections and fragments for one question, whose packets are of few.
[[nodiscard]] UnitOptions few_units(UnitOptions options) noexcept;

// The asker's end of one PacketQuestion: follows the packets that the asked one goes on from, then
// matches and keys it, with a parser and tables of its own. It stays until the worker has answered
// or the question is withdrawn unread.
class PacketAsker {
public:
    // Settings of the workers: how they treat packets, and hash keys.
    struct Treatment {
        PacketPolicy policy;
        UnitBudget units;
        HashSecret secret{};
    };
    // `rules` outlive it. TooMany: there is no memory for their texts.
    [[nodiscard]] static Result<std::unique_ptr<PacketAsker>> make(const Treatment& treatment,
                                                                   const LoadedRules& rules);

    // A packet that has passed before, uncharged: later layers see what it holds.
    void follow(const AskedArrival& packet, Now now);
    // The packet itself, once and last; its bytes stay until the answer is there.
    void match(const AskedArrival& packet, Now now);
    // The worker that the receiver of the matched packet hands it to as the owner of its key, of
    // so many; nullopt: it stays.
    [[nodiscard]] std::optional<std::size_t> owner(std::size_t workers) const;
    [[nodiscard]] PacketQuestion question();

    // Once the question has been answered.
    [[nodiscard]] const Burst& burst() const noexcept { return *burst_; }
    [[nodiscard]] std::span<const LimitFinding> limits(const DryRun& run) const noexcept {
        return std::span{limits_}.first(run.findings);
    }
    [[nodiscard]] std::span<const BanFinding> bans(const DryRun& run) const noexcept {
        return std::span{bans_}.first(run.bans);
    }

private:
    PacketAsker(const Treatment& treatment, const LoadedRules& rules,
                std::unique_ptr<TextScratch> texts);

    const LoadedSet& set_;
    std::unique_ptr<TextScratch> texts_;
    WorkerCounters counters_;
    UnitParser parser_;
    CoreState core_;
    std::unique_ptr<Burst> burst_ = std::make_unique<Burst>();
    std::vector<LimitFinding> limits_;
    std::vector<BanFinding> bans_;
};

}  // namespace sluice
