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

// `mark(number)` marks the rules of the packet of that number, malformed ones not counted.
template <typename Mark>
void note_matches(const Burst& burst, Scratch& scratch, Mark&& mark) noexcept {
    std::uint32_t next = 0;
    std::size_t row = 0;
    std::size_t number = 0;
    for (const Packet& packet : burst.packets()) {
        MatchSpan& span = scratch.spans[row++];
        span = {next, 0};
        if (is_malformed(packet.flow.parsed)) {
            continue;
        }
        mark(number++);
        scratch.found.drain(
            [&](std::uint32_t rule) { scratch.matches[next++] = Match{.rule = rule}; });
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
    Classifier::Rows rows;  // NOLINT(cppcoreguidelines-pro-type-member-init): the same
    classifier.find_rows(std::span{subjects.rows}.first(subjects.count), rows);
    if (classifier.asks_text()) [[unlikely]] {
        note_matches(burst, scratch, [&](std::size_t number) {
            classifier.mark(rows, number, subjects.rows[number], *core.texts, scratch.found);
        });
        return;
    }
    note_matches(burst, scratch,
                 [&](std::size_t number) { classifier.mark(rows, number, scratch.found); });
}

}  // namespace sluice
