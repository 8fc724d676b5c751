#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/verdict.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// The most that a question may show: bytes of a frame, and frames before it.
inline constexpr std::size_t kMostAskedBytes = 65'535;
inline constexpr std::size_t kMostFramesBefore = 64;

// A frame that has not come, as it would come in.
struct AskedFrame {
    std::vector<std::byte> bytes;
    std::uint32_t wire_size = 0;
    Direction dir = Direction::In;
    std::uint64_t age_ns = 0;  // how long before the packet that is asked about

    static void fields(auto& archive, auto& m) {
        archive(m.bytes, m.wire_size);
        archive.word(m.dir, Direction::Out);
        archive(m.age_ns);
        archive.check(m.bytes.size() <= kMostAskedBytes);
    }
};
// Asks what the worker that a packet would come to would make of it now. Nothing is spent.
struct AskPacket {
    std::uint64_t generation = 0;    // refused when another runs
    std::string pair;                // where it would come in; empty: the first pair
    std::vector<AskedFrame> before;  // that it goes on from, in their order
    AskedFrame packet;

    static void fields(auto& archive, auto& m) {
        archive(m.generation, m.pair, m.before, m.packet);
        archive.check(m.before.size() <= kMostFramesBefore);
    }
};

// A decision, by indexes of the rules in force; see Decision in lib/respond.
struct DecisionState {
    Verdict verdict = Verdict::Pass;
    Reason reason = Reason::Unmatched;
    std::uint32_t rule = 0;
    std::uint8_t limit = 0;
    std::uint16_t action = 0;
    std::int64_t wait_ns = 0;

    static void fields(auto& archive, auto& m) {
        archive.word(m.verdict, Verdict::Drop);
        archive.word(m.reason, static_cast<Reason>(kReasonCount - 1));
        archive(m.rule, m.limit, m.action, m.wait_ns);
    }
};
// One limit of a rule that a unit of the packet matches; see LimitFinding in lib/engine.
struct FoundLimit {
    std::uint32_t rule = 0;
    std::uint8_t limit = 0;
    std::uint8_t unit = 0;
    bool asked = false;
    bool admitted = false;
    bool charged = false;
    bool at_owner = false;
    bool has_bucket = false;
    std::uint8_t aggregation_level = 0;
    std::uint64_t cost = 0;
    std::uint64_t remaining = 0;
    std::int64_t wait_ns = 0;  // the largest number: never

    static void fields(auto& archive, auto& m) {
        archive(m.rule, m.limit, m.unit, m.asked, m.admitted, m.charged, m.at_owner, m.has_bucket,
                m.aggregation_level, m.cost, m.remaining, m.wait_ns);
    }
};
// One penalty box likewise; see BanFinding.
struct FoundBan {
    std::uint32_t rule = 0;
    std::uint8_t key = 0;
    std::uint8_t unit = 0;
    std::uint64_t refusals = 0;
    std::uint64_t after = 0;
    std::int64_t left_ns = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.rule, m.key, m.unit, m.refusals, m.after, m.left_ns);
    }
};
struct PacketState {
    std::uint32_t lcore = 0;  // of the worker that was asked
    bool is_sure = false;     // the packet would come to that one; else only its port knows
    bool answered = false;    // else it did not in time, and nothing below is known
    bool enforces = false;    // false: in a panic packets pass whatever is decided
    DecisionState decision;
    std::vector<DecisionState> units;  // of several in the packet, each alone
    std::vector<FoundLimit> limits;
    std::vector<FoundBan> bans;

    static void fields(auto& archive, auto& m) {
        archive(m.lcore, m.is_sure, m.answered, m.enforces, m.decision, m.units, m.limits, m.bans);
    }
};

}  // namespace sluice
