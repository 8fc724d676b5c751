#pragma once
#include "lib/base/bytes.hpp"
#include "lib/match/text_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// Messages of the process that compiles patterns to the one that waits for it. A crash or a time
// that ran out may end it after any byte, so that whatever comes is read as bytes of a stranger.
namespace sluice {

// The child's next step, then its outcome, and behind a database what scanning with it takes.
enum class News : std::uint8_t { Pattern, All, Database, Refusal, Cost };
struct NewsHeader {
    News news{};
    bool has_pattern = false;
    std::uint32_t pattern = 0;
    std::uint64_t size = 0;  // of the bytes behind it: the database, or a message; of Cost: ns
};

// The step at which the process ended without an outcome.
struct Unfinished {
    std::optional<std::uint32_t> pattern;  // that it was about; otherwise all together
};
struct RefusedPattern {
    std::string what;
    std::optional<std::uint32_t> pattern;
};
struct MadeDatabase {
    std::vector<std::byte> bytes;
    std::optional<std::uint64_t> scan_ns{};  // of one text; nullopt: it was not measured
};
using PatternNews = std::variant<Unfinished, RefusedPattern, MadeDatabase>;

// Every pattern that it names is below `patterns`: what names another is no news, and what stands
// behind it is not read.
[[nodiscard]] PatternNews read_pattern_news(ByteView news, std::size_t patterns);

}  // namespace sluice
