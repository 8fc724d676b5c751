#pragma once
#include "lib/match/text_parts.hpp"
#include "lib/policy/texts/pattern_process.hpp"
#include "lib/policy/texts/scan_cost.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

namespace sluice {

// Databases that were made before, so that rules whose patterns are the same need no other, and
// those in which a few have changed only a small one beside it. Any thread may use it.
class PatternCache {
public:
    PatternCache() = default;
    // Databases of `behind`, which outlives it, serve here too, and none is made or replaced there.
    explicit PatternCache(const PatternCache& behind) noexcept : behind_{&behind} {}

    // Fills parts.databases for its entries. nullopt: done; then the costs are what scanning for
    // them takes, measured when each database was made.
    [[nodiscard]] std::optional<PatternRefusal> compile(TextParts& parts, ScanCosts& costs);

    // Patterns that were given to Hyperscan so far.
    [[nodiscard]] std::size_t compiled() const;

private:
    struct Kept {
        std::vector<TextEntry> patterns;  // ascending
        std::vector<std::byte> bytes;
        std::uint64_t checksum = 0;
        std::optional<std::uint64_t> scan_ns;
    };
    using KeptDatabase = std::shared_ptr<const Kept>;
    using Made = std::variant<KeptDatabase, PatternRefusal>;
    // The databases that one field is scanned with.
    struct Pair {
        KeptDatabase base;
        KeptDatabase beside;  // made last beside the base
    };

    [[nodiscard]] std::optional<PatternRefusal> compile_field(TextField field, TextParts& parts,
                                                              ScanCost& cost);
    [[nodiscard]] static Made make(std::vector<TextEntry> patterns);
    static void add_database(TextField field, const Kept& kept, TextParts& parts, ScanCost& cost);
    [[nodiscard]] Pair kept_of(TextField field) const;
    // The pair to begin with.
    [[nodiscard]] Pair pair_for(TextField field, const std::vector<TextEntry>& patterns) const;
    // True if these are scanned with its base, and a database beside it where any are missing.
    [[nodiscard]] static bool serves(const Pair& pair, const std::vector<TextEntry>& patterns);
    void keep(TextField field, const Pair& pair, std::size_t compiled);

    const PatternCache* behind_ = nullptr;
    mutable std::mutex mutex_;  // never held while anything is compiled
    std::array<Pair, kTextFieldCount> kept_;
    std::size_t compiled_ = 0;
};

}  // namespace sluice
