#include "lib/policy/texts/text_trace.hpp"

#include "lib/match/number_ranges.hpp"
#include "lib/match/pattern_database.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

constexpr std::size_t kMostBytes = 40;  // of a text that is shown
constexpr std::size_t kMostTexts = 4;   // of a set, before it is cut short

constexpr auto kVerbs =
    std::to_array<std::string_view>({"is", "starts with", "ends with", "contains", "matches"});

bool is_within(std::string_view text, std::string_view asked) {
    const std::optional<NumberSpan> span = read_number_span(asked);
    const std::optional<std::uint64_t> number = read_decimal(text);
    return span && number ? span->has(*number) : text == asked;
}

bool compares(TextHow how, std::string_view text, std::string_view asked) {
    switch (how) {
        case TextHow::Equals:
            return text == asked;
        case TextHow::StartsWith:
            return text.starts_with(asked);
        case TextHow::EndsWith:
            return text.ends_with(asked);
        case TextHow::Within:
            return is_within(text, asked);
        default:
            return text.find(asked) != std::string_view::npos;
    }
}

bool matches(const TextTest& test, const std::string& regex, ByteView text) {
    TextParts parts;
    parts.entries = {{test.field, test.how, test.ignore_case, regex}};
    PatternCache cache;
    ScanCosts costs;
    if (cache.compile(parts, costs)) {
        return false;
    }
    const Result<PatternDatabase> database = PatternDatabase::load(parts.databases[0].bytes);
    PatternScratch scratch;
    if (!database || !scratch.fit(*database)) {
        return false;
    }
    PaddingBuffer padding;
    PatternHits hits{1};
    database->scan(padding.pad(text, 0), scratch, hits);
    return !hits.found().empty();
}

}  // namespace

const std::string* find_held(const TextTest& test, ByteView text) {
    const std::string_view as_text{reinterpret_cast<const char*>(text.data()), text.size()};
    const auto held = std::ranges::find_if(test.texts, [&](const std::string& asked) {
        if (test.how == TextHow::Matches) {
            return matches(test, asked, text);
        }
        return test.ignore_case ? compares(test.how, lowered(as_text), lowered(asked))
                                : compares(test.how, as_text, asked);
    });
    return held == test.texts.end() ? nullptr : &*held;
}

std::string shown(ByteView text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out = "\"";
    for (const std::byte byte : text.first(std::min(text.size(), kMostBytes))) {
        const auto value = std::to_integer<unsigned>(byte);
        if (value < 0x20 || value > 0x7E) {
            out += {'\\', 'x', kHex[value >> 4], kHex[value & 15]};
        } else {
            out += value == '"' || value == '\\' ? "\\" : "";
            out += static_cast<char>(value);
        }
    }
    out += "\"";
    return text.size() <= kMostBytes ? out
                                     : out + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string shown(TextField field, ByteView text) {
    const TextFieldRow& row = row_of(field);
    if (row.kind != TextKind::Number) {
        return shown(text);
    }
    const std::string_view digits{reinterpret_cast<const char*>(text.data()), text.size()};
    const std::size_t middle = digits.find('-');  // of Within: first-last
    return middle == std::string_view::npos ? number_text(row, digits)
                                            : number_text(row, digits.substr(0, middle)) + "-" +
                                                  number_text(row, digits.substr(middle + 1));
}

std::string words_of(const TextTest& test) {
    const bool numbers = test.how == TextHow::Within;
    std::string words{numbers ? "" : kVerbs[static_cast<std::size_t>(test.how)]};
    const std::size_t count = std::min(test.texts.size(), kMostTexts);
    for (std::size_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count && count == test.texts.size();
        words += i == 0 ? (numbers ? "" : " ") : last ? " or " : ", ";
        words += shown(test.field, bytes_of(test.texts[i]));
    }
    words += count < test.texts.size() ? " or more" : "";
    return words + (test.ignore_case ? ", whatever the case" : "");
}

std::string words_of(const TextTest& test, const std::string* held) {
    if (held == nullptr || !test.from_list || test.texts.size() == 1) {
        return words_of(test);
    }
    const TextTest one{
        .field = test.field, .how = test.how, .ignore_case = test.ignore_case, .texts = {*held}};
    return words_of(one) + ", one of " + std::to_string(test.texts.size());
}

}  // namespace sluice
