#pragma once
#include "tests/packets/memory_box.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

namespace sluice::test {

// The workers of a box that ask each other about keys, turn by turn: about all limits but those by
// source, which packets reach workers by.
class AskingWorkers {
public:
    using Frame = std::vector<std::byte>;
    using Sent = ShownFrame;
    struct Sizes {
        PendingBounds pending{
            .packets = 64, .questions = 128, .longest = std::chrono::milliseconds{10}};
        std::size_t ring = 256;
        Nanoseconds lifetime = std::chrono::seconds{1};
    };

    AskingWorkers(std::string_view rules, std::size_t workers)
        : AskingWorkers{rules, workers, Sizes{}} {}
    AskingWorkers(std::string_view rules, std::size_t workers, const Sizes& sizes)
        : box_{rules,
               {.workers = workers,
                .tell_wait = true,
                .ask_ring = sizes.ring,
                .reserve = ReserveBounds{sizes.pending, sizes.lifetime},
                .place = ask_owners}} {}

    // Other rules: workers adopt them in their next turns.
    void apply(std::string_view rules) { box_.publish(rules); }

    // Frames that come to one worker together, which takes a turn: the number of the first among
    // all that were sent.
    std::size_t send(std::size_t at, const std::vector<Frame>& frames, Instant now,
                     std::string_view pair = "lab", Direction dir = Direction::In) {
        const std::size_t first = sent().size();
        for (const Frame& frame : frames) {
            box_.show({}, frame, dir, pair, at);
        }
        poll(at, now);
        return first;
    }
    // A turn of a worker to which nothing comes.
    void poll(std::size_t at, Instant now) {
        box_.set_time(now);
        (void)box_.poll(at);
    }
    // All workers, until nobody has anything to say.
    void settle(Instant now) {
        for (int round = 0; round < 4; ++round) {
            for (std::size_t at = 0; at < box_.size(); ++at) {
                poll(at, now);
            }
        }
    }
    // One packet, decided.
    Decision judge(std::size_t at, const Frame& frame, Instant now, Direction dir = Direction::In) {
        const std::size_t number = send(at, {frame}, now, "lab", dir);
        settle(now);
        return sent()[number].decision;
    }

    [[nodiscard]] const std::deque<Sent>& sent() const { return box_.shown(); }
    [[nodiscard]] std::uint64_t passed() const {
        return static_cast<std::uint64_t>(std::count_if(
            sent().begin(), sent().end(),
            [](const Sent& one) { return one.decided && forwards(one.decision.verdict); }));
    }
    [[nodiscard]] const LoadedSet& set() const { return box_.set(); }
    [[nodiscard]] const ReserveClient& reserve_client(std::size_t at) const {
        return box_.worker(at).reserve_client();
    }
    [[nodiscard]] const ReserveServer& owner(std::size_t at) const {
        return box_.worker(at).owner();
    }
    [[nodiscard]] std::uint64_t asked() const { return counted(AskEvent::Asked); }
    [[nodiscard]] std::uint64_t counted(AskEvent event) const {
        return sum([&](std::size_t at) {
            return reserve_client(at).counters().of(event) + owner(at).counters().of(event);
        });
    }
    [[nodiscard]] std::uint64_t waiting() const {
        return sum([&](std::size_t at) { return reserve_client(at).size(); });
    }
    [[nodiscard]] std::uint64_t reserved() const {
        return sum([&](std::size_t at) { return owner(at).reservations().size(); });
    }
    [[nodiscard]] std::uint64_t counted(TableEvent event) const {
        return sum([&](std::size_t at) {
            return box_.counters(at).by_table_event[static_cast<std::size_t>(event)].read();
        });
    }
    [[nodiscard]] std::uint64_t counted(UnitEvent event) const {
        return sum([&](std::size_t at) {
            return box_.counters(at).by_unit_event[static_cast<std::size_t>(event)].read();
        });
    }
    // Of one rule: admitted, exceeded, skipped.
    [[nodiscard]] std::array<std::uint64_t, 3> counted(std::size_t rule) const {
        const std::uint32_t row = set().rules[rule].counters;
        const auto all = [&](Counter RuleCounters::* counter) {
            return sum(
                [&](std::size_t at) { return (box_.counters(at).rules[row].*counter).read(); });
        };
        return {all(&RuleCounters::admitted), all(&RuleCounters::exceeded),
                all(&RuleCounters::skipped)};
    }

private:
    static void ask_owners(RuleSet& rules) {
        for (Rule& rule : rules.rules) {
            rule.owner_group = 0;
            for (MeteredLimit& limit : rule.limits) {
                const GroupingKey& key = rule.keys[limit.key];
                const bool local = std::any_of(key.begin(), key.end(), [](const KeyPart& part) {
                    return part.field == Field::IpSrc && !part.text;
                });
                limit.scope = local ? LimitScope::Local : LimitScope::Asked;
            }
        }
        rules.owner_groups.clear();
    }

    template <typename Read>
    [[nodiscard]] std::uint64_t sum(const Read& read) const {
        std::uint64_t all = 0;
        for (std::size_t at = 0; at < box_.size(); ++at) {
            all += read(at);
        }
        return all;
    }

    MemoryBox box_;
};

}  // namespace sluice::test
