#pragma once
#include "lib/match/text_parts.hpp"
#include "lib/policy/texts/pattern_news.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

// Hyperscan's compiler takes milliseconds for a thousand patterns, and may take minutes for one of
// thirty bytes; nothing stops it. So all of them are compiled together in a process of its own,
// which the kernel ends when it has used up its time: the caller gets an answer, and other threads
// never wait. When it had too little, a second one finds the pattern that is to blame.
namespace sluice {

// The reason why the databases could not be made.
struct PatternRefusal {
    std::string what;
    std::optional<TextEntry> pattern;  // that it is about
};

// A database of these patterns as Hyperscan writes it, with what scanning with it takes, or why
// there is none.
using CompiledPatterns = std::variant<MadeDatabase, PatternRefusal>;
[[nodiscard]] CompiledPatterns compile_patterns(const std::vector<TextEntry>& patterns);

// The same, in this process, however long it takes; the cost is not measured.
[[nodiscard]] CompiledPatterns compile_here(const std::vector<TextEntry>& patterns);

}  // namespace sluice
