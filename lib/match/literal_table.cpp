#include "lib/match/literal_table.hpp"

#include <algorithm>
#include <string>
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
        // What begins it begins all that stands between the two.
        row.shorter = i == 0 ? kNone : i - 1;
        while (row.shorter != kNone && !begins(text, texts[row.shorter].first)) {
            row.shorter = rows_[row.shorter].shorter;
        }
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        rows_.push_back(row);
    }
}

std::uint8_t LiteralTable::byte_of(ByteView text, std::size_t at) const noexcept {
    const std::size_t from = how_ == TextHow::EndsWith ? text.size() - 1 - at : at;
    const auto byte = std::to_integer<std::uint8_t>(text[from]);
    return ignore_case_ ? lowered(byte) : byte;
}

std::uint32_t LiteralTable::last_not_above(ByteView text, std::size_t& common) const noexcept {
    std::uint32_t first = 0;
    auto count = static_cast<std::uint32_t>(rows_.size());
    std::uint32_t last = kNone;
    while (count > 0) {
        const std::uint32_t half = count / 2;
        const Row& row = rows_[first + half];
        const std::size_t shorter = std::min<std::size_t>(row.size, text.size());
        std::size_t same = 0;
        while (same < shorter && bytes_[row.at + same] == byte_of(text, same)) {
            ++same;
        }
        const bool above =
            same == shorter ? row.size > text.size() : bytes_[row.at + same] > byte_of(text, same);
        if (above) {
            count = half;
        } else {
            last = first + half;
            common = same;
            first += half + 1;
            count -= half + 1;
        }
    }
    return last;
}

}  // namespace sluice
