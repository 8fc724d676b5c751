#pragma once
#include "lib/base/bytes.hpp"
#include "lib/match/text_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Numbers from the first to the last; as a text `first-last`, in decimal.
struct NumberSpan {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] bool has(std::uint64_t number) const noexcept {
        return first <= number && number <= last;
    }
};
[[nodiscard]] std::string to_text(const NumberSpan& span);
// nullopt: it is none, or holds no number.
[[nodiscard]] std::optional<NumberSpan> read_number_span(std::string_view text) noexcept;
// Decimal digits and nothing else, below 2^64.
[[nodiscard]] std::optional<std::uint64_t> read_decimal(std::string_view text) noexcept;

// The ranges that numbers of one field are compared with, gone through one by one: there are
// kMaxNumberRanges at most in a rule set. Single numbers are texts that are equal.
class NumberRanges {
public:
    // Takes the entries that are TextHow::Within, which are sound.
    NumberRanges(std::span<const TextEntry> entries, TextField field);
    NumberRanges() = default;

    // Calls hit(entry) for each entry that holds of the text.
    template <typename Hit>
    void find(ByteView text, Hit&& hit) const noexcept {
        if (rows_.empty()) {
            return;
        }
        const std::optional<std::uint64_t> number =
            read_decimal({reinterpret_cast<const char*>(text.data()), text.size()});
        for (const Row& row : rows_) {
            if (number && row.span.has(*number)) {
                hit(row.entry);
            }
        }
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return rows_.size() * sizeof(Row); }

private:
    struct Row {
        NumberSpan span;
        std::uint32_t entry = 0;
    };
    std::vector<Row> rows_;
};

}  // namespace sluice
