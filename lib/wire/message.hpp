#pragma once
#include "lib/base/bytes.hpp"
#include "lib/rules/key_action.hpp"
#include "lib/rules/packet_treatment.hpp"
#include "lib/rules/port_rss_mapping.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/wire/clock_stats.hpp"
#include "lib/wire/control_stats.hpp"
#include "lib/wire/database_key.hpp"
#include "lib/wire/early_drop_messages.hpp"
#include "lib/wire/event_messages.hpp"
#include "lib/wire/heatmap_messages.hpp"
#include "lib/wire/key_list_messages.hpp"
#include "lib/wire/packet_messages.hpp"
#include "lib/wire/port_stats.hpp"
#include "lib/wire/preview_messages.hpp"
#include "lib/wire/rule_stats.hpp"
#include "lib/wire/service_stats.hpp"
#include "lib/wire/state_stats.hpp"
#include "lib/wire/store_link_stats.hpp"
#include "lib/wire/top_messages.hpp"
#include "lib/wire/trace_messages.hpp"
#include "lib/wire/worker_stats.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Requests of sluiced (and, for panic, sluicectl) to the dataplane, and its replies. One request,
// one reply, in order. A frame on the socket is a 32-bit little-endian length of what follows, then
// one byte naming the message, then its fields: integers little-endian and fixed in size, strings
// and lists with a 32-bit count in front.
namespace sluice {

inline constexpr std::uint32_t kWireVersion = 62;
// A compiled set (kMaxCompiledSize in lib/policy, and its texts and patterns) and the text of its
// file.
inline constexpr std::uint32_t kMaxMessageSize = 320U << 20;

// Requests.

// Must be the first on every connection; another version is answered with Failure and closed.
struct Hello {
    std::uint32_t version = kWireVersion;
    std::string program;      // for the log: "sluiced 0.1"
    std::string audit_dir{};  // where it records changes; empty: nowhere

    static void fields(auto& archive, auto& m) { archive(m.version, m.program, m.audit_dir); }
};
// Replaces the rule set. `source` and `modes` are kept beside it for GetRules and mean nothing to
// the dataplane: the rule file's text, and what else is known of its rules.
struct ApplyRules {
    RuleSet rules;
    std::string source;
    std::string modes;    // JSON object: rule id -> mode set at run time, and when rules end
    DatabaseSeal seal{};  // of the databases in `rules`
    // Keys owe no more than the numbers of `rules` allow: forgiven as they come under them.
    bool forgive = false;

    static void fields(auto& archive, auto& m) {
        archive(m.rules, m.source, m.modes, m.seal, m.forgive);
    }
};
// The same, of rules that are held elsewhere.
struct RulesInForce {
    const RuleSet& rules;
    const std::string& source;
    const std::string& modes;
    const DatabaseSeal& seal;
    const bool forgive = false;  // what was forgiven is not forgiven again

    static void fields(auto& archive, auto& m) {
        archive(m.rules, m.source, m.modes, m.seal, m.forgive);
    }
};
struct GetRules {};
struct GetStats {};
// A request that is read after `not_after_ns` is refused: its client has timed out and may have
// set the opposite by another way since.
struct SetPanic {
    bool pass = false;
    std::uint64_t not_after_ns = 0;  // of CLOCK_BOOTTIME; 0: whenever it comes

    static void fields(auto& archive, auto& m) { archive(m.pass, m.not_after_ns); }
};
// Replaces the rule set until the process ends: what is kept for the next start stays as it was.
struct TryRules {
    ApplyRules rules;

    static void fields(auto& archive, auto& m) { archive(m.rules); }
};
// Keeps what runs for the next start too. Refused when another generation runs.
struct KeepRules {
    std::uint64_t generation = 0;
    bool forgive = false;  // as ApplyRules has it: what keys owe is forgiven from here on

    static void fields(auto& archive, auto& m) { archive(m.generation, m.forgive); }
};
// One key of a rule: what its buckets hold, and what is done to them.
struct AskKey {
    KeyAction action = KeyAction::Show;
    std::uint64_t generation = 0;  // that the rule is meant in; refused when another runs
    std::string rule;
    std::uint8_t key = 0;          // of the rule's keys
    std::vector<std::byte> bytes;  // its canonical bytes, at most kMaxKeySize
    std::string limit;             // its name; empty: all of this key
    std::uint64_t units = 0;       // of Grant

    static void fields(auto& archive, auto& m) {
        archive.word(m.action, KeyAction::Forgive);
        archive(m.generation, m.rule, m.key, m.bytes, m.limit, m.units);
        archive.check(m.bytes.size() <= kMaxKeySize);
    }
};

// How old an amount may get before workers that share a limit tell each other of it, until the
// dataplane ends. Refused where a limit that is merged could not be any more.
struct SetMergeInterval {
    std::uint64_t interval_ns = 0;

    static void fields(auto& archive, auto& m) { archive(m.interval_ns); }
};

// A message from a client that has nothing to ask and means to stay; answered by Applied.
struct Ping {};

// Replies.

struct Welcome {
    std::uint32_t version = kWireVersion;
    std::uint32_t pid = 0;
    std::uint64_t generation = 0;  // 0: no rule set
    RssMapping rss_mapping{};      // how frames come to workers
    PacketTreatment treatment{};

    static void fields(auto& archive, auto& m) {
        archive(m.version, m.pid, m.generation, m.rss_mapping, m.treatment);
    }
};
struct Applied {
    std::uint64_t generation = 0;

    static void fields(auto& archive, auto& m) { archive(m.generation); }
};
struct RunningRules {
    std::uint64_t generation = 0;
    std::string source;
    std::string modes;

    static void fields(auto& archive, auto& m) { archive(m.generation, m.source, m.modes); }
};
struct Stats {
    std::uint64_t generation = 0;
    std::uint64_t uptime_ns = 0;
    bool panic = false;
    std::uint64_t merge_interval_ns = 0;
    ClockStats clock;
    StoreLinkStats store;
    StateStats state;
    ControlStats control;
    EventStats events;
    HeatStats heatmaps;
    std::vector<RuleStats> rules;
    std::vector<PortStats> ports;
    std::vector<WorkerStats> workers;
    std::vector<ServiceStats> services;

    static void fields(auto& archive, auto& m) {
        archive(m.generation, m.uptime_ns, m.panic, m.merge_interval_ns, m.clock, m.store, m.state,
                m.control, m.events, m.heatmaps, m.rules, m.ports, m.workers, m.services);
    }
};
// One limit's bucket of a key on one worker; of units, see KeyBucket in lib/engine.
struct KeyBucketState {
    std::uint8_t limit = 0;  // index in the rule
    bool own = false;
    bool overridden = false;
    std::uint64_t rate_units = 0;  // of the key's own numbers, if they are a bucket's
    std::uint64_t rate_ns = 0;
    std::uint8_t aggregation_level = 0;
    std::uint64_t before = 0;
    std::uint64_t remaining = 0;
    std::uint64_t most = 0;
    std::int64_t wait_ns = 0;   // the largest number: never
    std::int64_t fresh_ns = 0;  // until it equals a fresh bucket
    bool carried = false;
    std::uint64_t given_wider = 0;  // see KeyBucket in lib/engine
    std::uint8_t range = 0;         // likewise

    static void fields(auto& archive, auto& m) {
        archive(m.limit, m.own, m.overridden, m.rate_units, m.rate_ns, m.aggregation_level,
                m.before, m.remaining, m.most, m.wait_ns, m.fresh_ns, m.carried, m.given_wider,
                m.range);
    }
};
struct KeyOnWorker {
    std::uint32_t lcore = 0;
    bool answered = false;  // else it did not in time, and nothing is known of it
    bool exempt = false;    // the key is
    bool banned = false;    // likewise
    bool begun = false;     // without an answer: the action may be done
    // The key's place in the penalty box; see KeyBox in lib/engine.
    std::uint64_t refusals = 0;
    std::uint64_t after = 0;
    std::int64_t ban_left_ns = 0;
    bool lifted = false;
    std::uint8_t ban_level = 0;
    std::uint8_t exempt_range = 0;  // see KeyAnswer in lib/engine
    std::vector<KeyBucketState> limits;

    static void fields(auto& archive, auto& m) {
        archive(m.lcore, m.answered, m.exempt, m.banned, m.begun, m.refusals, m.after,
                m.ban_left_ns, m.lifted, m.ban_level, m.exempt_range, m.limits);
    }
};
struct KeyState {
    std::vector<std::string> limits;  // names of the rule's limits, by index
    std::vector<KeyOnWorker> workers;

    static void fields(auto& archive, auto& m) { archive(m.limits, m.workers); }
};
struct MergeIntervalSet {
    std::uint64_t interval_ns = 0;
    std::uint64_t shared_limits = 0;  // that follow it

    static void fields(auto& archive, auto& m) { archive(m.interval_ns, m.shared_limits); }
};
struct PanicSet {
    bool pass = false;
    bool before = false;
    std::string audit_dir{};  // of the sluiced that was connected last, else the state directory

    static void fields(auto& archive, auto& m) { archive(m.pass, m.before, m.audit_dir); }
};
struct Failure {
    std::string what;

    static void fields(auto& archive, auto& m) { archive(m.what); }
};

using Request =
    std::variant<Hello, ApplyRules, GetRules, GetStats, SetPanic, TryRules, KeepRules, GetTop,
                 AskKey, SetMergeInterval, Ping, GetEvents, ListKeys, BeginTrace, ReadTrace,
                 EndTrace, CountOwed, AskPacket, FindEarlyDrops, ReadHeatmap, ReadPreview>;
using Reply = std::variant<Welcome, Applied, RunningRules, Stats, PanicSet, Failure, Top, KeyState,
                           MergeIntervalSet, Events, KeyPage, TraceBegun, TracedPackets, OwedKeys,
                           PacketState, FoundEarlyDrops, HeatmapEpochs, PreviewedPackets>;

}  // namespace sluice
