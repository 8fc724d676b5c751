#pragma once
#include "lib/watch/heatmap/heat_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Rules without `heatmap: on` that somebody looks at.
inline constexpr std::size_t kMostLookedAt = 16;
// Packets of one key of which an epoch keeps the fields.
inline constexpr std::size_t kMostPacketsOfKey = 8;

// A field of a packet, as people read it.
struct HeatField {
    std::string name;
    std::string value;

    [[nodiscard]] bool operator==(const HeatField&) const = default;
};
struct HeatPacket {
    std::vector<HeatField> fields;

    [[nodiscard]] bool operator==(const HeatPacket&) const = default;
};

// A watched key by name.
struct NamedHeatKey {
    std::uint64_t digest = 0;         // as in its sample
    std::string key;                  // part|part
    std::vector<HeatPacket> packets;  // some of its packets, kMostPacketsOfKey at most

    [[nodiscard]] bool operator==(const NamedHeatKey&) const = default;
};

// The watched keys of one limit in one epoch: one in 2^sampling_bits of all, picked by digest. Keys
// that are watched at more bits are among those that are at fewer.
struct HeatLimit {
    std::string rule;
    std::uint32_t limit = 0;  // index in the rule
    std::uint8_t sampling_bits = 0;
    std::uint64_t left_out = 0;       // packets of watched keys that found no place
    std::vector<HeatSample> samples;  // by digest, each once
    std::vector<NamedHeatKey> names;  // likewise; of as many of these as there was room for

    [[nodiscard]] bool operator==(const HeatLimit&) const = default;
};

struct HeatEpoch {
    std::uint64_t number = 0;
    std::uint64_t generation = 0;  // of the rule set
    std::int64_t began_utc_ns = 0;
    std::int64_t ended_utc_ns = 0;
    std::uint32_t late_workers =
        0;  // that stood still at its end: what they have comes in a later one
    std::uint64_t lost_names = 0;   // names and packets that found no room
    std::vector<HeatLimit> limits;  // that have a map; in the order of the rules

    [[nodiscard]] bool operator==(const HeatEpoch&) const = default;
};

}  // namespace sluice
