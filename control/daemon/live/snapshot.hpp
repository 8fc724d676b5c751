#pragma once
#include "control/daemon/live/counter_rate.hpp"
#include "control/daemon/live/second_ring.hpp"
#include "control/json.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// All of one second of the box, as GET /v1/live shows it.
namespace sluice {

// The fate of packets now.
enum class LiveState : std::uint8_t { Judging, Panic, NoRules, NoDataplane, Bridged };
inline constexpr auto kLiveStateNames =
    std::to_array<std::string_view>({"judging", "panic", "no_rules", "no_dataplane", "bridged"});

struct StateNow {
    LiveState state = LiveState::NoDataplane;
    std::string why{};  // empty: it judges
};

struct LiveRates {
    // Bits are without those of packets that the kernel drops early, whose sizes nobody counts.
    PacketRate offered;
    PacketRate passed;
    PacketRate refused;   // those that were answered are some of them
    PacketRate answered;  // by the box itself
    // By rules and services in monitor; a packet that several would refuse counts for each.
    PacketRate would_refuse;
};

struct LivePort {
    std::string name;
    std::string_view link;  // up, down, held
    PacketRate rx{};
    PacketRate tx{};
    LiveRate dropped{};
};

struct LiveProblem {
    std::string_view name;
    std::string_view severity;
    std::string text;
    std::string_view act;
};

inline constexpr std::size_t kSparkSeconds = 60;

struct LiveRule {
    std::string id;
    Mode mode = Mode::Monitor;
    std::string_view state;  // active, inactive, ended
    PacketRate matched{};
    LiveRate refused{};
    PacketRate would_refuse{};
    bool is_summed = true;  // in the box's total; not a rule that is off, or never can say
    LiveRate early{};       // dropped by the kernel, before the box
    std::optional<std::uint64_t> live_keys{};
    std::optional<std::uint64_t> limited_now{};  // none of the events by which workers know: nobody
    LiveRate table_share{};                      // of the places of all tables
    std::string_view placement;                  // empty: it has no limit
    std::array<float, kSparkSeconds> spark{};
};

struct LiveSnapshot {
    std::uint64_t number = 0;
    std::int64_t second = 0;  // since the sampler began
    std::string at;
    StateNow state;
    std::string since;  // empty: from before the first snapshot
    std::optional<std::uint64_t> generation;
    std::size_t workers = 0;
    Json trial;
    std::optional<LiveRates> rates;
    std::vector<LiveProblem> problems;
    std::vector<LivePort> ports;
    Json events = Json::array();
    std::vector<LiveRule> rules;  // in the order of the file
};

}  // namespace sluice
