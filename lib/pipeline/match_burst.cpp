#include "lib/match/classifier.hpp"
#include "lib/pipeline/stages.hpp"

#include <array>
#include <span>

namespace sluice {
namespace {

static_assert(kMaxSubjects >= kMaxBurst);

// Every packet meets the same rules. A malformed one's are written too, and then written over: so
// nothing branches on what a packet is. kOne: there is one such rule.
template <bool kOne>
void match_always(const Burst& burst, std::span<const std::uint32_t> rules,
                  Scratch& scratch) noexcept {
    const std::uint32_t count = kOne ? 1 : static_cast<std::uint32_t>(rules.size());
    const std::uint32_t first = rules.empty() ? 0 : rules.front();
    MatchSpan* const spans = scratch.spans.data();
    Match* const matches = scratch.matches.get();
    std::uint32_t next = 0;
    std::uint8_t row = 0;
    for (const Packet& packet : burst.packets()) {
        const std::uint32_t met = is_malformed(packet.flow.parsed) ? 0 : count;
        matches[next] = Match{.rule = first, .packet = row};
        for (std::uint32_t i = 1; !kOne && i < count; ++i) {
            matches[next + i] = Match{.rule = rules[i], .packet = row};
        }
        spans[row++] = {next, met};
        next += met;
    }
    scratch.match_count = next;
}

struct Subjects {
    // As many as are counted are read.
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
void note_matches(const Burst& burst, const LoadedSet& set, Scratch& scratch) noexcept {
    const QuickRule* const quick = set.quick.data();
    MatchSpan* const spans = scratch.spans.data();
    Match* const matches = scratch.matches.get();
    std::uint32_t next = 0;
    std::size_t number = 0;
    std::uint8_t row = 0;
    for (const Packet& packet : burst.packets()) {
        spans[row] = {next, 0};
        if (!is_malformed(packet.flow.parsed)) {
            const std::span<const std::uint32_t> rules = scratch.found.of(number++);
            const auto count = static_cast<std::uint32_t>(rules.size());
            // Up to two without a branch: how many there are is as random as the packets.
            matches[next] = Match{.rule = rules.data()[0], .packet = row};
            matches[next + 1] = Match{.rule = rules.data()[1], .packet = row};
            for (std::uint32_t i = 2; i < count; ++i) {
                matches[next + i] = Match{.rule = rules[i], .packet = row};
            }
            spans[row].count = count;
            next += count;
        }
        ++row;
    }
    for (std::uint32_t i = 0; kMany && i < next; ++i) {
        prefetch_rule(quick[matches[i].rule]);
    }
    scratch.match_count = next;
}

}  // namespace

void match_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    Scratch& scratch = burst.scratch();
    const Classifier& classifier = *set.classifier;
    if (set.has_one_way()) {
        return;  // only_match() tells of whoever is asked for
    }
    if (classifier.asks_nothing()) {
        const std::span<const std::uint32_t> rules = classifier.always();
        rules.size() == 1 ? match_always<true>(burst, rules, scratch)
                          : match_always<false>(burst, rules, scratch);
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
