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

struct Subjects {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): as many as are counted are read.
    std::array<Subject, kMaxBurst> rows;
    std::size_t count = 0;
};

Subjects subjects_of(const Burst& burst) noexcept {
    Subjects subjects;
    for (const Packet& packet : burst.packets()) {
        if (!is_malformed(packet.flow.parsed)) {
            subjects.rows[subjects.count++] = {&packet.flow, packet.frame.bytes,
                                               packet.frame.readable_behind};
        }
    }
    return subjects;
}

// Asks for what the next stages read of a rule. (Inlined before GCC finds it to have no effect.)
[[gnu::always_inline]] inline void prefetch_rule(const QuickRule& rule) noexcept {
    const auto* const lines = reinterpret_cast<const std::byte*>(&rule);
    __builtin_prefetch(lines);
    __builtin_prefetch(lines + sizeof(rule) / 2);
}

// kMany: there are so many rules that those that match are asked for.
template <bool kMany>
void note_matches(const Burst& burst, const RuleSet& set, Scratch& scratch) noexcept {
    std::uint32_t next = 0;
    std::size_t row = 0;
    std::size_t number = 0;
    for (const Packet& packet : burst.packets()) {
        MatchSpan& span = scratch.spans[row++];
        span = {next, 0};
        if (is_malformed(packet.flow.parsed)) {
            continue;
        }
        for (const std::uint32_t rule : scratch.found.of(number++)) {
            scratch.matches[next++] = Match{.rule = rule};
            if constexpr (kMany) {
                prefetch_rule(set.quick[rule]);
            }
        }
        span.count = next - span.first;
    }
}

}  // namespace

void match_burst(Burst& burst, const RuleSet& set, const CoreState& core) noexcept {
    Scratch& scratch = burst.scratch();
    const Classifier& classifier = set.classifier;
    if (classifier.asks_nothing()) {
        match_always(burst, classifier, scratch);
        return;
    }
    const Subjects subjects = subjects_of(burst);
    classifier.match(std::span{subjects.rows}.first(subjects.count), core.texts, scratch.found);
    if (set.has_many_rules()) {
        note_matches<true>(burst, set, scratch);
    } else {
        note_matches<false>(burst, set, scratch);
    }
}

}  // namespace sluice
