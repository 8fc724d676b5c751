#pragma once
#include "lib/policy/overrides/override_numbers.hpp"
#include "lib/policy/problem.hpp"
#include "lib/rules/overrides.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

// One line of an override file, or one limit of an inline one.
struct OverrideText {
    std::string_view key;    // part|part
    std::string_view limit;  // its name, or `exempt`
    NumbersText numbers;
    std::string_view until;  // empty: as `until_at` has it
    Nanoseconds until_at = kForever;
    bool banned = false;              // the key is; the limit is not read
    std::optional<std::size_t> tier;  // of the rule's keys, from 1 on; else whichever fits
};
inline constexpr std::string_view kExempt = "exempt";

// What of an OverrideText is wrong.
struct OverrideFault {
    enum class Word : std::uint8_t { Key, Limit, Rate, Burst, Count, Until };
    Word word{};
    std::string what;
};

// Where an override was said: which text, and its line there.
enum class OverrideSource : std::uint8_t { RuleFile, CsvFile, RunTime };
struct OverridePlace {
    OverrideSource source{};
    std::uint32_t line = 0;
};
struct OverrideTwice {
    OverridePlace first;
    OverridePlace second;
    std::string what;
};

// Collects what is said of single keys of a rule, a million of them in a second or so: what repeats
// is read once.
class OverrideBuilder {
public:
    explicit OverrideBuilder(const Rule& rule) : rule_{rule} {}

    // nullopt: taken.
    [[nodiscard]] std::optional<OverrideFault> add(const OverrideText& text, OverridePlace place);
    [[nodiscard]] bool is_full() const noexcept { return rows_.size() >= kMaxOverrides; }

    // A sum over everything that was said and counts: another when anything is another.
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

    // nullptr: nothing was said, or something twice; then `twice` has the first places of that.
    [[nodiscard]] std::shared_ptr<const Overrides> finish(std::vector<OverrideTwice>& twice);

private:
    // What is said of one limit, or that the key is exempt.
    struct Piece {
        bool exempt = false;
        bool banned = false;
        LimitOverride numbers;  // of the others only `until`

        [[nodiscard]] bool has_numbers() const noexcept { return !exempt && !banned; }
    };
    struct Row {
        std::uint32_t begin = 0;  // of its key in bytes_
        std::uint32_t end = 0;
        std::uint32_t piece = 0;
        OverridePlace place;
        std::uint8_t key = 0;
    };
    using Group = std::vector<const Row*>;

    [[nodiscard]] std::optional<OverrideFault> read_piece(const OverrideText& text,
                                                          std::uint8_t limit, Piece& piece) const;
    // The index of the tier that has a limit of this name; nullopt: none, or several.
    [[nodiscard]] std::optional<std::size_t> tier_of(std::string_view limit) const;
    [[nodiscard]] std::optional<std::uint8_t> limit_in(std::string_view name,
                                                       std::uint8_t key) const;
    [[nodiscard]] ByteView bytes_of(const Row& row) const noexcept {
        return ByteView{bytes_}.subspan(row.begin, row.end - row.begin);
    }
    [[nodiscard]] std::uint32_t plan_of(const Group& group, Overrides& overrides);
    void let_run_time_win(Group& group) const;
    void check_group(const Group& group, std::vector<OverrideTwice>& twice) const;

    const Rule& rule_;
    std::vector<std::byte> bytes_;  // of the keys, one after the other
    std::vector<Row> rows_;
    std::vector<Piece> pieces_;
    std::vector<std::uint64_t> piece_sums_;
    std::uint64_t sum_ = 0;                                        // once finished
    std::unordered_map<std::string, std::uint32_t> known_pieces_;  // by their text
    std::unordered_map<std::string, std::uint32_t> known_plans_;   // by their pieces
};

}  // namespace sluice
