#include "lib/match/literal_table.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

std::uint8_t lowered(std::uint8_t byte) noexcept {
    return byte >= 'A' && byte <= 'Z' ? static_cast<std::uint8_t>(byte + ('a' - 'A')) : byte;
}

bool begins(const std::basic_string<std::uint8_t>& text,
            const std::basic_string<std::uint8_t>& beginning) {
    return text.compare(0, beginning.size(), beginning) == 0;
}

// The head of the last row that was added.
std::uint64_t stored_head(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
    std::uint64_t head = 0;
    for (std::size_t i = 0; i < sizeof(head); ++i) {
        head = head << 8 | (at + i < bytes.size() ? bytes[at + i] : 0U);
    }
    return head;
}

// How many of the numbers, which ascend, come first: without a jump that data decides.
template <typename Below>
std::size_t count_below(std::span<const std::uint64_t> numbers, Below&& below) noexcept {
    std::size_t first = 0;
    std::size_t count = numbers.size();
    while (count > 1) {
        const std::size_t half = count / 2;
        first += below(numbers[first + half - 1]) ? half : 0;
        count -= half;
    }
    return first + (count == 1 && below(numbers[first]) ? 1 : 0);
}

}  // namespace

LiteralTable::LiteralTable(std::span<const TextEntry> entries, TextField field, TextHow how,
                           bool ignore_case)
    : how_{how}, ignore_case_{ignore_case} {
    using Text = std::basic_string<std::uint8_t>;
    std::vector<std::pair<Text, std::uint32_t>> texts;
    for (std::uint32_t entry = 0; entry < entries.size(); ++entry) {
        const TextEntry& from = entries[entry];
        if (from.field != field || from.how != how || from.ignore_case != ignore_case) {
            continue;
        }
        Text text;
        for (std::size_t i = 0; i < from.text.size(); ++i) {
            text += byte_of(bytes_of(from.text), i);
        }
        texts.emplace_back(std::move(text), entry);
    }
    std::sort(texts.begin(), texts.end());
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
        const auto& [text, entry] = texts[i];
        Row row{static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint32_t>(text.size()),
                entry, kNone};
        // A beginning of a text begins all texts that stand between the two.
        row.shorter = i == 0 ? kNone : i - 1;
        while (row.shorter != kNone && !begins(text, texts[row.shorter].first)) {
            row.shorter = rows_[row.shorter].shorter;
        }
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        rows_.push_back(row);
        heads_.push_back(stored_head(bytes_, row.at));
    }
}

std::uint8_t LiteralTable::byte_of(ByteView text, std::size_t at) const noexcept {
    const std::size_t from = how_ == TextHow::EndsWith ? text.size() - 1 - at : at;
    const auto byte = std::to_integer<std::uint8_t>(text[from]);
    return ignore_case_ ? lowered(byte) : byte;
}

std::uint64_t LiteralTable::head_of(ByteView text) const noexcept {
    constexpr std::size_t kBytes = sizeof(std::uint64_t);
    if (text.size() >= kBytes && how_ != TextHow::EndsWith && !ignore_case_) {
        return load_be<std::uint64_t>(text.data());
    }
    std::uint64_t head = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
        head = head << 8 | (i < text.size() ? byte_of(text, i) : 0U);
    }
    return head;
}

std::size_t LiteralTable::common_with(std::uint32_t row, ByteView text) const noexcept {
    const std::size_t shorter = std::min<std::size_t>(rows_[row].size, text.size());
    std::size_t same = 0;
    while (same < shorter && bytes_[rows_[row].at + same] == byte_of(text, same)) {
        ++same;
    }
    return same;
}

// Heads that differ stand as their texts do; among rows of the text's own head bytes decide.
std::uint32_t LiteralTable::last_not_above(ByteView text, std::size_t& common) const noexcept {
    const std::uint64_t head = head_of(text);
    std::size_t first = count_below(heads_, [&](std::uint64_t row) { return row < head; });
    std::size_t count = count_below(heads_, [&](std::uint64_t row) { return row <= head; }) - first;
    while (count > 0) {
        const std::size_t half = count / 2;
        const auto row = static_cast<std::uint32_t>(first + half);
        const std::size_t same = common_with(row, text);
        const bool above =
            same < rows_[row].size &&
            (same == text.size() || bytes_[rows_[row].at + same] > byte_of(text, same));
        first += above ? 0 : half + 1;
        count = above ? half : count - half - 1;
    }
    if (first == 0) {
        return kNone;
    }
    const auto last = static_cast<std::uint32_t>(first - 1);
    common = common_with(last, text);
    return last;
}

}  // namespace sluice
