#pragma once
#include "lib/bucket/meter/limit.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/bucket/table/take.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/rules/load/key_schema.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

// The parts of a rule set for the stages behind matching, side by side: derived from the rules when
// they are loaded, in the order of the file. Nothing here depends on the number of rules.
namespace sluice {

class OverrideTable;
struct LoadedSet;

inline constexpr std::size_t kMaxSchemas = kMaxLimits * (2 + CoarseKeys::kMost);

// How the fast path checks and charges a limit. General: only the general path can.
enum class FastMeter : std::uint8_t {
    General,
    Whole,       // token or leaky bucket whose time per unit is a whole number of ns
    Parts,       // and where it is not
    Pooled,      // windows, logs and colour meters: a state in a line of the pool
    Shared,      // token bucket that several workers spend (lib/peer/merge)
    Values,      // different values, told apart by a digest of a field
    Overridden,  // token bucket, keys of which may have numbers of their own or be exempt
    Penalty,     // the penalty box of a key: not a limit, but looked up beside its limits
};

// One limit, or one penalty box, of one rule.
struct alignas(64) LimitPlan {
    std::uint64_t start = 0;            // KeyHasher::start_of() the limit
    WholeNumbers whole;                 // of a bucket whose units take whole ns
    const Limit* gcra = nullptr;        // nullptr: another algorithm
    const AnyLimit* numbers = nullptr;  // in the rule set
    const OverrideTable* overrides = nullptr;
    // Units that requests cost by their paths, in the place of `cost`; nullptr: the same.
    const PathCosts* costs_by_path = nullptr;
    std::uint32_t rule = 0;
    std::uint32_t cost = 1;  // units for each thing counted
    std::uint32_t max_unsynced = 0;
    std::uint32_t schema = 0;
    // The schema that values are read by, from 1 on; 0: it needs none.
    std::uint32_t values = 0;
    std::uint32_t coarser = 0;  // index in MeterPlan::coarser, from 1 on; 0: it does not coarsen
    LimitSlot slot = 0;
    FastMeter meter = FastMeter::General;
    Per per = Per::Packet;
    std::uint8_t version = 0;  // of its numbers
    std::uint8_t index = 0;    // in the rule's limits, or boxes
    std::uint8_t key = 0;      // in the rule's keys
    // True if a key's state depends on nothing but its entry: a new bucket on no table_share and on
    // no slot under which the key may owe something, a penalty box on no other worker's.
    bool stands_alone = false;
    bool has_queue = false;  // its states do: records in further lines of the pool
};

// The wider limits that a limit coarsens to, where the fast path can charge them: by aggregation
// level - 1, the same limit with wider numbers; and the schemas of the wider keys, nearest first.
struct CoarserPlan {
    std::array<std::uint32_t, CoarseKeys::kMost> schemas{};
    std::vector<LimitPlan> levels;
    std::uint8_t last_level = 0;  // the rule's
};

// One rule. Its limits are limits[first_limit, + limits), its penalty boxes come behind them.
struct RulePlan {
    std::uint32_t first_limit = 0;
    std::uint16_t limits = 0;
    std::uint16_t boxes = 0;
    OnMatch on_match = OnMatch::Meter;
    Mode mode = Mode::Monitor;
    std::uint8_t schedule = 0;  // as in RuleTerms
    ActionIndex on_exceed = kDropAction;
    Verdict exceed_verdict = Verdict::Drop;  // that action's
    // The action of a rule that decides on sight.
    ActionIndex match_action = kDropAction;
    Verdict match_verdict = Verdict::Drop;
    // The fast path can decide a refusal by a limit: nothing else is spent or noted for it.
    bool refuses_fast = false;
    bool rejected_spend = false;
    bool candidate = false;
    std::uint32_t place = 0;  // as in LoadedRule
    // The rule enforces, and its answer tells a client how long to wait.
    bool tells_wait = false;
    bool has_overrides = false;
    // The condition may match some packets of a connection and not others.
    bool chooses_segments = false;
    std::uint32_t counters = 0;
    // The texts that condition and keys read, and that keys do: of derived texts, their sources.
    TextFieldSet texts;
    TextFieldSet key_texts;
    // The units of later layers that limits of it count.
    PerSet counts;
    // The same where they count nothing else; else nothing. Then a packet without one is skipped,
    // unless (`meets_all`) what is known of its key concerns it, a ban or an override, or another
    // unit of its packet may have been within the budget.
    PerSet judges;
    bool meets_all = true;
};

struct MeterPlan {
    std::vector<RulePlan> rules;
    std::vector<LimitPlan> limits;
    std::vector<CoarserPlan> coarser;
    std::vector<KeySchema> schemas;      // at most kMaxSchemas
    std::deque<GroupingKey> wider_keys;  // of schemas: each stays where it is
    bool has_shared = false;
    bool has_candidates = false;
    // By slot, of limits whose owners are asked: the index in `limits`, from 1 on; else 0.
    std::vector<std::uint32_t> asked;
    bool has_queues = false;
    // Some rule can refuse a packet, so that fragments follow the first of their datagram.
    bool refuses = false;
    // Some action makes a frame of its own; some of them answer requests.
    bool answers = false;
    bool answers_requests = false;
    // Some rule answers on sight what matches.
    bool answers_on_sight = false;
    // True if a limit counts open connections, whose packets are followed.
    bool counts_open = false;
    // Texts that all rules together read, and the units of later layers that they count.
    TextFieldSet texts;
    TextFieldSet derived;  // the derived ones themselves
    PerSet counts;
    // So that rules over later layers see whole streams, packets are read that none of them may
    // match.
    bool reads_all_segments = false;
    // An enforcing rule asks whom the requests of trusted proxies are from.
    bool enforces_on_clients = false;

    // True if some limit is asked of its keys' owners.
    [[nodiscard]] bool has_asked() const noexcept { return !asked.empty(); }
    // True if matching and keying need more of a frame than its headers.
    [[nodiscard]] bool reads_payload() const noexcept { return !counts.empty() || !texts.empty(); }
};

// The plan of a set whose slots, versions, counters and overrides have been given out; it points
// into the set.
[[nodiscard]] MeterPlan make_meter_plan(const LoadedSet& set);

}  // namespace sluice
