#pragma once
#include "lib/watch/trace/preview_record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Messages of a preview: of a trace whose condition is a draft of a rule.
namespace sluice {

// Asks for what has passed since the last read. Keys are sampled by so many bits at least from now
// on.
struct ReadPreview {
    std::uint64_t origin = 0;  // as in TraceBegun
    std::uint64_t number = 0;
    std::uint8_t bits = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.origin, m.number, m.bits);
        archive.check(m.bits < 64);
    }
};

struct PreviewKeyText {
    std::uint64_t digest = 0;  // of the draft's first key
    std::string text;          // part|part

    static void fields(auto& archive, auto& m) { archive(m.digest, m.text); }
    [[nodiscard]] bool operator==(const PreviewKeyText&) const = default;
};

struct PreviewedPackets {
    bool known = false;            // there is such a preview
    bool other_start = false;      // the dataplane was started anew since
    bool judges = false;           // there are rules, and no panic
    std::uint64_t generation = 0;  // of the rules in force
    std::uint8_t bits = 0;         // that keys are sampled by: no record is of another key
    // Since the preview began: what the draft matched, what other rules decided before it, what
    // lacks its key, and packets of sampled keys that found no room.
    PreviewAmounts counted;
    std::uint64_t decided = 0;
    std::uint64_t keyless = 0;
    std::uint64_t left_out = 0;
    std::vector<PreviewRecord> records;
    std::vector<PreviewKeyText> keys;  // of sampled ones, some more than once

    static void fields(auto& archive, auto& m) {
        archive(m.known, m.other_start, m.judges, m.generation, m.bits, m.counted, m.decided,
                m.keyless, m.left_out, m.records, m.keys);
        archive.check(m.bits < 64);
    }
};

}  // namespace sluice
