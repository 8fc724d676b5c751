#pragma once
#include "lib/match/text_parts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sluice {

// What went wrong in making the databases.
struct PatternRefusal {
    std::string what;
    std::optional<TextEntry> pattern;  // that it is about
};

// Databases that were made before, so that rules whose patterns are the same need no other, and
// those in which a few have changed only a small one beside it. Any thread may use it.
class PatternCache {
public:
    // Fills parts.databases for its entries. nullopt: done.
    [[nodiscard]] std::optional<PatternRefusal> compile(TextParts& parts);

    // Patterns that were given to Hyperscan so far.
    [[nodiscard]] std::size_t compiled() const;

private:
    struct Kept {
        std::vector<TextEntry> patterns;  // ascending
        std::vector<std::byte> bytes;
        std::uint64_t checksum = 0;
    };
    using Made = std::variant<Kept, PatternRefusal>;

    [[nodiscard]] std::optional<PatternRefusal> compile_field(TextField field, TextParts& parts);
    [[nodiscard]] Made make(std::vector<TextEntry> patterns);

    mutable std::mutex mutex_;
    std::array<std::optional<Kept>, kTextFieldCount> bases_;   // by field
    std::array<std::optional<Kept>, kTextFieldCount> besides_;  // what was made beside the base last
    std::size_t compiled_ = 0;
};

}  // namespace sluice
