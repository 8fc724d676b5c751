#pragma once
#include "lib/pipeline/run_burst.hpp"
#include "lib/policy/compile.hpp"
#include "tests/bench/packet_mill.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice::bench {

// One worker with rules, and the frames of a mill that go through it.
class BenchWorker {
public:
    static constexpr std::size_t kBurst = PacketMill::kBurst;

    // With room for `keys` buckets, four fifths full then. Ends the program if the rules are wrong.
    BenchWorker(PacketMill& mill, std::string_view rules, std::size_t keys);

    void run(std::size_t bursts);
    // The same, stage by stage, with the time-stamp counter read between them.
    void run_in_stages(std::size_t bursts);
    void print_stages(const char* name) const;

    // Of all packets since the start, the malformed ones too.
    [[nodiscard]] double dropped() const noexcept;
    // Packets that a limit has refused.
    [[nodiscard]] std::uint64_t refused() const noexcept { return judged_as(Reason::OverLimit); }
    // Rules that matched a packet, of those that are not malformed.
    [[nodiscard]] double matches_per_packet() const noexcept;
    [[nodiscard]] const RuleSet& rules() const noexcept { return compiled_.set; }

private:
    [[nodiscard]] std::uint64_t judged_as(Reason reason) const noexcept {
        return counters_.by_reason[static_cast<std::size_t>(reason)].read();
    }
    void take(Burst& burst);
    void give(const Burst& burst);

    PacketMill& mill_;
    CompiledRules compiled_;
    std::unique_ptr<TextScratch> texts_;
    WorkerCounters counters_;
    CoreState core_;
    std::array<Burst, 2> bursts_;  // on their way
    Now now_;
    std::uint64_t ticks_[6]{};
    std::uint64_t packets_in_stages_ = 0;
};

}  // namespace sluice::bench
