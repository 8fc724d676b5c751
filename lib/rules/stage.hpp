#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The stages that a worker spends its time with: the way of a burst, and what lies beside it.
enum class Stage : std::uint8_t {
    Receive,
    Parse,
    Match,
    Key,
    Locate,
    Meter,
    Send,
    Other,
    Idle,
};

struct StageRow {
    Stage stage;
    std::string_view name;  // as the CLI, the metrics and the benchmarks print it
    std::string_view help;
};

// The one list, in the order of a burst's way.
inline constexpr auto kStages = std::to_array<StageRow>({
    {Stage::Receive, "receive", "asking queues and rings, frames out of them"},
    {Stage::Parse, "parse", "headers, and what databases say of addresses"},
    {Stage::Match, "match", "the rules that apply, later layers and texts among them"},
    {Stage::Key, "key", "hashes of keys, handing over to their owners"},
    {Stage::Locate, "locate", "the buckets of keys"},
    {Stage::Meter, "meter", "limits: checking, deciding, charging"},
    {Stage::Send, "send", "what verdicts do to frames, answers among them, and transmit"},
    {Stage::Other, "other",
     "other workers' charges, traces, housekeeping, and while others had the processor"},
    {Stage::Idle, "idle", "nothing had come, pauses included"},
});
inline constexpr std::size_t kStageCount = kStages.size();

// One turn of a worker in so many is measured, few enough that reading the time-stamp counter
// between stages takes less than a thousandth of all of its time.
inline constexpr std::uint32_t kTurnsPerSample = 256;

static_assert(in_enum_order(kStages, &StageRow::stage), "kStages is indexed by Stage");

}  // namespace sluice
