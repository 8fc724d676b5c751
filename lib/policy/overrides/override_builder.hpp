#pragma once
#include "lib/policy/keys/key_text.hpp"
#include "lib/policy/overrides/banned_keys.hpp"
#include "lib/policy/overrides/named_ranges.hpp"
#include "lib/policy/overrides/named_rows.hpp"
#include "lib/policy/overrides/override_numbers.hpp"
#include "lib/policy/overrides/override_rows.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/rules/overrides.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

inline constexpr std::string_view kExempt = "exempt";

// One line of an override file, or one limit of an inline one.
struct OverrideText {
    std::string_view key;    // part|part
    std::string_view limit;  // its name, or `exempt`
    NumbersText numbers;
    std::string_view until;  // empty: as `until_at` has it
    Nanoseconds until_at = kForever;
    bool banned = false;              // the key is; the limit is not read
    std::string_view reason{};        // in a file
    std::optional<std::size_t> tier;  // of the rule's keys, from 1 on; else whichever fits

    [[nodiscard]] bool is_exempt() const noexcept { return !banned && limit == kExempt; }
    [[nodiscard]] bool names_limit() const noexcept { return !banned && limit != kExempt; }
};

struct OverrideFault {
    enum class Word : std::uint8_t { Key, Limit, Rate, Burst, Count, Until };
    Word word{};
    std::string what;
};

struct OverrideTwice {
    OverridePlace first;
    OverridePlace second;
    std::string what;
};

inline constexpr std::size_t kMostTwiceTold = 20;  // keys and ranges

// FNV-1a, a name for rows.
inline constexpr std::uint64_t kEmptyRowSum = 0xCBF2'9CE4'8422'2325;
[[nodiscard]] constexpr std::uint64_t add_to_row_sum(std::uint64_t sum, ByteView bytes) noexcept {
    for (const std::byte byte : bytes) {
        sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x0000'0100'0000'01B3;
    }
    return sum;
}

// Rows in order, and which texts their pieces were read from: more of them can be added.
struct OpenRows {
    OverrideRows rows;
    std::unordered_map<std::string, std::uint32_t> pieces{};
};

// Collects overrides of single keys of a rule, a million of them in a second or so: what repeats is
// read once.
class OverrideBuilder {
public:
    explicit OverrideBuilder(const Rule& rule) : rule_{rule} {}
    // Names of headers and cookies in the rule's keys, for messages.
    void set_names(const TextNames& names) { names_ = names; }

    // nullopt: taken.
    [[nodiscard]] std::optional<OverrideFault> add(const OverrideText& text, OverridePlace place);
    [[nodiscard]] bool is_full() const noexcept { return said_.size() >= kMaxOverrides; }

    // All rows so far, in order; and the same from a cache, before any other row is added.
    [[nodiscard]] const OverrideRows& sorted_rows();
    void begin_with(const OverrideRows& rows) { said_ = rows; }
    // Goes on with rows that another builder of the same rule was left with, before any is added.
    void resume(OpenRows rows) {
        said_ = std::move(rows.rows);
        known_pieces_ = std::move(rows.pieces);
    }
    // The builder's rows, in order; nothing is left here.
    [[nodiscard]] OpenRows leave();
    // Adds each of these behind what there is.
    void append(const OpenRows& more);

    // The keys that files ban, once finished; nullptr: none.
    [[nodiscard]] std::shared_ptr<const BannedKeys> banned() const { return banned_; }

    // The networks and ranges that have terms, once finished; nullptr: none.
    [[nodiscard]] std::shared_ptr<const NamedRanges> ranges() const { return ranges_; }

    // The rows of single keys that texts have, once finished; nullptr: none.
    [[nodiscard]] std::shared_ptr<const NamedRows> named() const { return named_; }

    // A checksum over all rows that count.
    [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

    // Once: no row is left here. nullptr: there are none, it was interrupted, or some stand twice;
    // then `twice` has the first places of these.
    [[nodiscard]] std::shared_ptr<const Overrides> finish(std::vector<OverrideTwice>& twice,
                                                          const std::stop_token& stop = {});

private:
    using Piece = OverrideRows::Piece;
    using Row = OverrideRows::Row;
    using Group = std::vector<const Row*>;

    [[nodiscard]] std::optional<OverrideFault> read_piece(const OverrideText& text,
                                                          std::uint8_t limit, Piece& piece) const;
    // The index of the tier that has a limit of this name; nullopt: none, or several.
    [[nodiscard]] std::optional<std::size_t> tier_of(std::string_view limit) const;
    [[nodiscard]] std::optional<std::uint8_t> limit_in(std::string_view name,
                                                       std::uint8_t key) const;
    // The number of the text's reason in the rows' reasons.
    [[nodiscard]] std::uint32_t reason_of(const OverrideText& text);
    // One key, or without it a range of many.
    struct Named {
        std::optional<ReadKey> key;
        KeyRange range;
    };
    [[nodiscard]] Result<Named> read_name(const OverrideText& text, std::optional<std::size_t> tier,
                                          OverrideSource source) const;
    // nullopt: the text's piece, known or new, is at `piece`.
    [[nodiscard]] std::optional<OverrideFault> add_piece(const OverrideText& text, std::uint8_t key,
                                                         std::uint32_t& piece);
    // In builder_ranges.cpp.
    void finish_ranges(Overrides& overrides, std::vector<OverrideTwice>& twice);
    void note_bans(const Group& group);
    [[nodiscard]] std::uint32_t plan_of(const Group& group, Overrides& overrides);
    [[nodiscard]] std::uint32_t add_plan(const Group& group, Overrides& overrides) const;
    // Both in one pass, however many rows a key has.
    void let_run_time_win(Group& group) const;
    void check_group(const Group& group, std::vector<OverrideTwice>& twice) const;
    [[nodiscard]] OverrideTwice twice_of(const Row& first, const Row& second) const;

    const Rule& rule_;
    TextNames names_;
    OverrideRows said_;
    std::uint64_t sum_ = 0;                                        // once finished
    std::shared_ptr<BannedKeys> banned_;                           // likewise
    std::shared_ptr<NamedRanges> ranges_;                          // likewise
    std::shared_ptr<const NamedRows> named_;                       // likewise
    std::unordered_map<std::string, std::uint32_t> known_pieces_;  // by their text
    std::unordered_map<std::string, std::uint32_t> known_plans_;   // by their pieces, of several
    std::unordered_map<std::string, std::uint32_t> known_reasons_;
    std::vector<std::uint32_t> plan_of_piece_;  // alone, + 1; 0: none yet
};

}  // namespace sluice
