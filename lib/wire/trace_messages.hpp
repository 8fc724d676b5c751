#pragma once
#include "lib/rules/rule_set.hpp"
#include "lib/watch/trace/traced_packet.hpp"
#include "lib/wire/database_key.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Shows what becomes of packets as they pass, from now on until nobody reads it any more.
struct BeginTrace {
    bool conditional = false;   // packets that a rule of `condition` matches; else all
    RuleSet condition;          // that decide nothing
    DatabaseSeal seal{};        // of the databases in it
    std::string rule;           // that decides them or, of what goes on, matches; empty: any
    bool refused = false;       // what is kept back alone
    bool would_refuse = false;  // what services in monitor would refuse alone
    std::uint32_t snap = 0;     // bytes of each frame, kMostTracedBytes at most
    // The first rule of `condition` is a draft that would stand for `rule`, and before `behind`,
    // where that is not empty: its keys are shown, by ReadPreview, and no packet is.
    bool preview = false;
    std::string behind{};

    static void fields(auto& archive, auto& m) {
        archive(m.conditional, m.condition, m.seal, m.rule, m.refused, m.would_refuse, m.snap,
                m.preview, m.behind);
        archive.check(m.snap <= kMostTracedBytes);
    }
};
// Asks for the packets that have passed since the last read.
struct ReadTrace {
    std::uint64_t origin = 0;  // as in TraceBegun
    std::uint64_t number = 0;

    static void fields(auto& archive, auto& m) { archive(m.origin, m.number); }
};
struct EndTrace {
    std::uint64_t origin = 0;
    std::uint64_t number = 0;

    static void fields(auto& archive, auto& m) { archive(m.origin, m.number); }
};

struct TraceBegun {
    std::uint64_t origin = 0;  // of the numbers: another one for every start of a dataplane
    std::uint64_t number = 0;
    std::uint32_t most_per_second = 0;  // packets of each worker
    std::uint32_t unread_after_ms = 0;  // it ends when it is not read for so long
    // Fields that the condition reads and no rule in force does: they are seen of no packet.
    std::vector<std::string> unread_fields;

    static void fields(auto& archive, auto& m) {
        archive(m.origin, m.number, m.most_per_second, m.unread_after_ms, m.unread_fields);
    }
};
struct TracedPackets {
    bool known = false;          // there is such a trace; of ended ones nothing is known
    bool other_start = false;    // the dataplane was started anew since
    bool judges = false;         // there are rules, and no panic
    bool has_rule = true;        // the trace names no rule, or one in force
    std::uint64_t left_out = 0;  // since the trace began: there were more than it has room for
    std::vector<TracedPacket> packets;

    static void fields(auto& archive, auto& m) {
        archive(m.known, m.other_start, m.judges, m.has_rule, m.left_out, m.packets);
    }
};

}  // namespace sluice
