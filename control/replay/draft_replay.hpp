#pragma once
#include "control/json.hpp"
#include "control/replay/draft_tally.hpp"
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/capture/left_out.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/packet_treatment.hpp"
#include "lib/rules/rule_counts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice {

// A capture, and a set of rules in which a draft has its place.
struct CaptureForDraft {
    CompiledRules rules;
    std::string draft;  // id of the rule that is judged as if it enforced
    ByteView capture;
    PacketTreatment treatment{};  // the box's
    std::string pair{};           // that the frames come to
    std::vector<IpPrefix> inside{};
    // False: it has taken too long.
    std::function<bool()> may_go_on = [] { return true; };
};

// The outcome of the capture: by the whole pipeline, of every packet.
struct DraftReplay {
    struct RuleRow {
        std::string id;
        Mode mode = Mode::Off;  // as judged
        RuleCounts counts;      // zeros when off
    };
    struct LimitRow {
        std::string name;
        std::string text;
        std::string unit;  // "units": what requests cost by their paths
        DraftTally::OfLimit counts;
    };
    std::int64_t from_utc_ns = 0;
    std::int64_t to_utc_ns = 0;
    std::uint64_t packets = 0;
    std::array<std::uint64_t, kVerdictCount> by_verdict{};
    LeftOut left_out;            // frames that are not Ethernet's
    std::vector<RuleRow> rules;  // all of the set, in its order
    std::vector<LimitRow> limits;
    std::string unit = "packets";      // of the draft's counts: what all its limits count
    std::size_t worst = 0;             // the limit that refused most of what it met, by index
    std::vector<ReplayedGroup> names;  // of that limit, those that were refused most first
    std::vector<SeenValues> values;
    Json heatmaps = Json::array();
    std::uint64_t table_full = 0;
    bool is_exact = true;        // the maps and groups have every key
    bool clock_stopped = false;  // the capture is longer than the years that limits can count
};

inline constexpr std::size_t kMostReplayedNames = 20;
inline constexpr std::size_t kMostReplayedColumns = 720;  // of a map

// BadSyntax: the bytes are no capture, or not whole. NotSupported: it has no Ethernet frame.
// TooMany: it took too long. Refused: the draft is off. Others: the rules cannot be loaded.
[[nodiscard]] Result<DraftReplay> replay_draft(CaptureForDraft ask);

}  // namespace sluice
