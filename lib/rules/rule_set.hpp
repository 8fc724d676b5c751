#pragma once
#include "lib/match/program.hpp"
#include "lib/meter/limit.hpp"
#include "lib/rules/verdict.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the compiler makes of a rule file and the workers adopt: plain data, never changed once
// published. It crosses the socket as it stands (lib/wire), and check() is asked once on arrival.
namespace sluice {

inline constexpr std::size_t kMaxRules = 16'384;
inline constexpr std::size_t kMaxRuleIdSize = 128;
inline constexpr std::size_t kMaxKeyParts = 16;
inline constexpr std::size_t kMaxLimitsPerRule = 16;
inline constexpr std::size_t kMaxLimits = 32'768;  // in all rules of a set together

enum class Mode : std::uint8_t { Off, Monitor, Enforce };
inline constexpr auto kModeNames = std::to_array<std::string_view>({"off", "monitor", "enforce"});

enum class OnMatch : std::uint8_t { Meter, Drop, Allow };
enum class MissingKey : std::uint8_t { Skip, Share };
// What a new key meets when both its places in the table are held by live entries.
enum class OnFull : std::uint8_t { Open, Closed };
enum class Per : std::uint8_t { Packet, Byte };

// One part of a grouping key. For an address, only the first `v4` or `v6` bits count.
struct KeyPart {
    Field field{};
    std::uint8_t v4_length = 32;
    std::uint8_t v6_length = 128;
};

struct MeteredLimit {
    // Hash of (rule id, limit name, key schema, algorithm, per): what a bucket's state belongs to.
    // It does not depend on the numbers, so a reload that changes them keeps the buckets.
    std::uint64_t identity = 0;
    std::string name;  // as given, or its position: "1", "2"
    Per per = Per::Packet;
    Limit limit;
};

// What `tag` writes; nullopt leaves the field as it came.
struct TagValues {
    std::optional<std::uint8_t> dscp;
    std::optional<std::uint8_t> pcp;
};

struct Rule {
    std::string id;
    Mode mode = Mode::Monitor;
    Condition when;
    OnMatch on_match = OnMatch::Meter;
    MissingKey missing_key = MissingKey::Skip;
    OnFull on_full = OnFull::Closed;
    Verdict on_exceed = Verdict::Drop;  // Drop, Tag or Pass
    TagValues tag;                      // read when on_exceed is Tag
    std::uint32_t counters = 0;         // row in the workers' rule counters; given out on loading
    std::vector<KeyPart> key;           // empty: one bucket for the whole rule
    std::vector<MeteredLimit> limits;
};

// Rules in the order of the file; rules that are off are left out.
struct RuleSet {
    std::uint64_t generation = 0;  // hash of the set; 0 = none loaded
    Program program;
    std::vector<Rule> rules;
};

// Whether every index, range and number is what the workers rely on. nullopt: it is; else what is
// wrong.
[[nodiscard]] std::optional<std::string> find_fault(const RuleSet& set);

}  // namespace sluice
