#include "lib/match/program.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {

void match_burst(Burst& burst, const RuleSet& set) noexcept {
    Scratch& scratch = burst.scratch();
    std::uint32_t next = 0;
    std::size_t row = 0;
    for (const Packet& packet : burst.packets()) {
        MatchSpan& span = scratch.spans[row++];
        span = {next, 0};
        if (is_malformed(packet.flow.parsed)) {
            continue;
        }
        for (std::uint32_t rule = 0; rule < set.rules.size(); ++rule) {
            const Condition& when = set.rules[rule].when;
            if (when.count == 0 || matches(set.program, when, packet.flow, packet.frame.bytes)) {
                scratch.matches[next++] = Match{.rule = rule};
            }
        }
        span.count = next - span.first;
    }
}

}  // namespace sluice
