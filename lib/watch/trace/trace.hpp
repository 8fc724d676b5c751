#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/match/rule_matches.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/load/key_schema.hpp"
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/share/core.hpp"
#include "lib/watch/trace/preview_tap.hpp"
#include "lib/watch/trace/trace_tap.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The choice of the packets that somebody wants to see go by.
struct TraceTerms {
    std::string rule;           // that decided them or, of what goes on, matches; empty: any
    bool refused = false;       // only what is kept back
    bool would_refuse = false;  // only what services in monitor would refuse
    std::uint32_t snap = 0;     // bytes of each frame, kMostTracedBytes at most
    // The first rule of the condition is a draft, and keys of it are shown in the place of packets
    // (preview_tap.hpp), picked by this hash. `rule` is the one that it replaces, and `behind` the
    // first that it would stand before; empty: it would be the last.
    std::optional<KeyHasher> preview{};
    std::string behind{};
};

// One trace: what it is about, and each worker's end of it. All memory is allocated when it is
// made; workers only write into it (lib/engine/stage/trace_burst.hpp).
class Trace {
public:
    // `condition`: rules of which any matches what the trace is about; nullopt: all packets are.
    Trace(TraceTerms terms, std::optional<LoadedRules> condition, std::size_t workers);

    [[nodiscard]] const TraceTerms& terms() const noexcept { return terms_; }
    [[nodiscard]] const LoadedRules* condition() const noexcept {
        return condition_ ? &*condition_ : nullptr;
    }

    [[nodiscard]] std::size_t workers() const noexcept { return ends_.size(); }
    [[nodiscard]] TraceTap& tap(std::size_t worker) noexcept { return ends_[worker]->tap; }
    // A worker's scratch for matching the condition.
    [[nodiscard]] RuleMatches& matches(std::size_t worker) noexcept {
        return ends_[worker]->matches;
    }
    // nullptr: the trace is of no preview.
    [[nodiscard]] PreviewTap* preview_tap(std::size_t worker) noexcept {
        return ends_[worker]->preview.get();
    }
    [[nodiscard]] const KeyHasher& preview_hash() const noexcept { return *terms_.preview; }
    // The first key of a preview's draft; of a draft that has none, nothing is to be hashed.
    [[nodiscard]] const KeySchema& preview_key() const noexcept { return preview_key_; }
    // By all workers.
    [[nodiscard]] std::uint64_t left_out() const noexcept;

private:
    struct alignas(kCacheLine) End {
        explicit End(std::size_t ring) : tap{ring} {}
        TraceTap tap;
        RuleMatches matches;
        std::unique_ptr<PreviewTap> preview;
    };

    TraceTerms terms_;
    std::optional<LoadedRules> condition_;
    KeySchema preview_key_;  // of `condition_`
    std::vector<std::unique_ptr<End>> ends_;
};

// A trace as workers see it under one rule set.
struct ActiveTrace {
    std::shared_ptr<Trace> trace;
    std::uint32_t rule = kNoRule;    // index of the terms' rule in the set
    std::uint32_t behind = kNoRule;  // likewise of the first rule behind a draft
};

// The rule of this name, no candidate; kNoRule: there is none.
[[nodiscard]] std::uint32_t rule_called(const std::string& id, const LoadedSet& set) noexcept;
// `traces` under a rule set.
[[nodiscard]] std::vector<ActiveTrace> under(const std::vector<std::shared_ptr<Trace>>& traces,
                                             const LoadedSet& set);

}  // namespace sluice
