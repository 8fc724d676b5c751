#pragma once
#include "lib/rules/load/loaded_set.hpp"
#include "lib/watch/events/event_record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The latest events of all workers, numbered in the order in which they were taken, for any number
// of readers that come back with the number they want next. Bounded: the oldest goes for the
// newest, and a reader that comes too late is told how many it has missed.
class EventLog {
public:
    static constexpr std::size_t kMostEvents = 8192;
    // Rule sets whose names are known: events of the ones before still come after a change.
    static constexpr std::size_t kKnownSets = 4;

    explicit EventLog(std::size_t most = kMostEvents) : most_{most} {}

    // The rules that events name from now on.
    void adopt(const LoadedSet& rules);
    // One event. Of a rule set that is no longer known, it is lost.
    using PairOf = std::function<std::string(std::uint64_t)>;
    void take(const EventRecord& record, std::uint32_t lcore, const PairOf& pair_of);
    // So many could not be told.
    void lose(std::uint64_t events, Nanoseconds utc);
    // So many packets of a pair went past the box.
    void bridged(const std::string& pair, std::uint64_t packets, Nanoseconds utc);
    // The checksums of a side of a service are not verified any more.
    void checksums_trusted(const std::string& service, std::string_view side, Nanoseconds utc);
    // So many buckets owe less: of a key of the rule, or, both empty, of any.
    void debts_forgiven(const std::string& rule, const std::string& key, std::uint64_t debts,
                        Nanoseconds utc);

    struct Slice {
        std::uint64_t next = 0;    // the number to come back with
        std::uint64_t missed = 0;  // that came between `from` and the oldest there is
        std::vector<KeyEvent> events;
    };
    // Reads from that number on, `most` at most; from one that is yet to come, none.
    [[nodiscard]] Slice read(std::uint64_t from, std::size_t most) const;

    // The rule that an event is of; nullptr: its set is no longer known.
    [[nodiscard]] const std::string* rule_of(const EventRecord& record) const noexcept {
        const Names* const names = names_of(record);
        return names == nullptr ? nullptr : &names->rule;
    }

    // Since the start.
    [[nodiscard]] std::uint64_t count(KeyEventKind kind) const noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }

private:
    struct Names {
        std::string rule;
        std::vector<std::string> limits;
    };
    struct Known {
        std::uint64_t load = 0;
        std::vector<Names> rules;
    };
    [[nodiscard]] const Names* names_of(const EventRecord& record) const noexcept;
    void append(KeyEvent event);

    std::size_t most_;
    std::deque<Known> known_;
    std::deque<KeyEvent> events_;
    std::uint64_t next_ = 1;
    std::array<std::uint64_t, kKeyEventKindCount> counts_{};  // of Lost: events that were
};

}  // namespace sluice
