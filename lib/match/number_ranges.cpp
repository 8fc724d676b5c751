#include "lib/match/number_ranges.hpp"

#include <charconv>

namespace sluice {

std::string to_text(const NumberSpan& span) {
    return std::to_string(span.first) + "-" + std::to_string(span.last);
}

std::optional<std::uint64_t> read_decimal(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc{} && read.ptr == end ? std::optional{number} : std::nullopt;
}

std::optional<NumberSpan> read_number_span(std::string_view text) noexcept {
    const std::size_t middle = text.find('-');
    if (middle == std::string_view::npos) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> first = read_decimal(text.substr(0, middle));
    const std::optional<std::uint64_t> last = read_decimal(text.substr(middle + 1));
    return first && last && *first <= *last ? std::optional{NumberSpan{*first, *last}}
                                            : std::nullopt;
}

NumberRanges::NumberRanges(std::span<const TextEntry> entries, TextField field) {
    for (std::uint32_t entry = 0; entry < entries.size(); ++entry) {
        if (entries[entry].field == field && entries[entry].how == TextHow::Within) {
            rows_.push_back({read_number_span(entries[entry].text).value_or(NumberSpan{}), entry});
        }
    }
}

}  // namespace sluice
