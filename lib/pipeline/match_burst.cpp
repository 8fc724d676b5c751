#include "lib/match/classifier.hpp"
#include "lib/pipeline/stages.hpp"

#include <array>
#include <span>

namespace sluice {
namespace {

static_assert(kMaxSubjects >= kMaxBurst);

// Every packet meets the same rules.
void match_always(const Burst& burst, const Classifier& classifier, Scratch& scratch) noexcept {
    std::uint32_t next = 0;
    std::size_t row = 0;
    for (const Packet& packet : burst.packets()) {
        MatchSpan& span = scratch.spans[row++];
        span = {next, 0};
        if (is_malformed(packet.flow.parsed)) {
            continue;
        }
        for (const std::uint32_t rule : classifier.always()) {
            scratch.matches[next++] = Match{.rule = rule};
        }
        span.count = next - span.first;
    }
}

}  // namespace

void match_burst(Burst& burst, const RuleSet& set) noexcept {
    Scratch& scratch = burst.scratch();
    if (set.classifier.asks_nothing()) {
        match_always(burst, set.classifier, scratch);
        return;
    }
    // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): as many as are counted are read.
    std::array<Subject, kMaxBurst> subjects;
    Classifier::Rows rows;
    // NOLINTEND(cppcoreguidelines-pro-type-member-init)
    std::size_t count = 0;
    for (const Packet& packet : burst.packets()) {
        if (!is_malformed(packet.flow.parsed)) {
            subjects[count++] = {&packet.flow, packet.frame.bytes};
        }
    }
    set.classifier.find_rows(std::span{subjects}.first(count), rows);
    std::uint32_t next = 0;
    std::size_t row = 0;
    count = 0;
    for (const Packet& packet : burst.packets()) {
        MatchSpan& span = scratch.spans[row++];
        span = {next, 0};
        if (is_malformed(packet.flow.parsed)) {
            continue;
        }
        set.classifier.mark(rows, count++, scratch.found);
        scratch.found.drain(
            [&](std::uint32_t rule) { scratch.matches[next++] = Match{.rule = rule}; });
        span.count = next - span.first;
    }
}

}  // namespace sluice
