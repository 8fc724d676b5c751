#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/literal_table.hpp"
#include "lib/match/number_ranges.hpp"
#include "lib/match/pattern_database.hpp"
#include "lib/match/text_scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// A list for each of many things, one behind the other.
template <typename T>
class Lists {
public:
    // Pairs of whose list it is and what; in the order of the owners.
    Lists() = default;
    Lists(std::size_t owners, std::span<const std::pair<std::uint32_t, T>> sorted)
        : first_(owners + 1) {
        for (const auto& [owner, item] : sorted) {
            ++first_[owner + 1];
            items_.push_back(item);
        }
        for (std::size_t i = 1; i < first_.size(); ++i) {
            first_[i] += first_[i - 1];
        }
    }
    [[nodiscard]] std::span<const T> of(std::uint32_t owner) const noexcept {
        return {items_.data() + first_[owner], items_.data() + first_[owner + 1]};
    }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return items_.size() * sizeof(T) + first_.size() * sizeof(std::uint32_t);
    }

private:
    std::vector<std::uint32_t> first_;
    std::vector<T> items_;
};

// Finds the clauses that the texts of a packet satisfy. A packet's texts are read when a clause
// over them is all that is left to be decided, and then once for all rules: the work follows the
// tests that hold. A clause of several tests is found by its rarest test, and then requires the
// others. Never changed once made.
class TextMatcher {
public:
    TextMatcher() = default;
    // The parts are sound, for so many clauses.
    TextMatcher(const TextParts& parts, std::size_t clauses);

    [[nodiscard]] bool asks_nothing() const noexcept { return fields_.empty(); }
    // Why it cannot be used: a database is none for this CPU. nullopt: it can.
    [[nodiscard]] const std::optional<std::string>& fault() const noexcept { return fault_; }

    // True if a test is over `payload`, the only text of packets without a unit of a later layer.
    [[nodiscard]] bool reads_payloads() const noexcept { return reads_payloads_; }
    // The clauses of a block that no text needs to satisfy: those that a packet without texts does.
    [[nodiscard]] const Block& without_texts(std::uint32_t block) const noexcept {
        return base_[block];
    }

    // Begins a new packet.
    static void begin(TextScratch& scratch) noexcept { scratch.begin(); }
    // Leaves, of the clauses of one block that `both` still has, those that its texts satisfy too.
    void narrow(Block& both, std::uint32_t block, const PacketHeaders& headers,
                const FrameView& frame, TextScratch& scratch) const noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept;

private:
    friend class TextScratch;
    // One block's clauses that use a test, or a field.
    struct Bits {
        std::uint32_t block = 0;
        Block bits;
    };
    // A clause of several tests: it is satisfied when all of `others` hold too.
    struct Together {
        std::uint32_t first_other = 0;
        std::uint32_t past_others = 0;
        std::uint32_t clause = 0;
    };
    struct Database {
        PatternDatabase patterns;
        std::vector<std::uint32_t> entries;  // by pattern
    };
    struct FieldTexts {
        TextField field{};
        std::optional<std::uint32_t> presence;  // the test of whether it is there
        std::vector<LiteralTable> tables;
        NumberRanges ranges;
        std::vector<Database> databases;
        std::vector<Block> asked;  // by block: the clauses over it
    };

    void add_field(TextField field, const TextParts& parts, std::size_t blocks);
    void list_tests(const TextParts& parts);
    void list_clauses(const TextParts& parts, std::size_t clauses);
    void look(const FieldTexts& texts, const PacketHeaders& headers, const FrameView& frame,
              TextScratch& scratch) const noexcept;
    void open_rows(TextScratch& scratch) const noexcept;

    std::vector<FieldTexts> fields_;
    Lists<std::uint32_t> tests_of_;  // by entry: the tests it belongs to
    Lists<Bits> opens_;              // by test: the clauses that need no other text
    Lists<Bits> closes_;             // by test: the clauses that need it not to hold
    Lists<Together> together_;       // by test: clauses found by it that need others too
    std::vector<std::uint32_t> others_;
    std::vector<Block> base_;  // by block: the clauses that need no test to hold
    std::size_t tests_ = 0;
    std::size_t most_patterns_ = 0;  // of a database
    bool reads_payloads_ = false;
    std::optional<std::string> fault_;
};

}  // namespace sluice
