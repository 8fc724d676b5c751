#include "lib/policy/limits/parameter.hpp"

#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/values/units_text.hpp"
#include "lib/policy/zones/time_zones.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace sluice {
namespace {

// Sets one member of the value to what was parsed, or keeps the error.
template <typename T>
Result<ParameterValue> with(ParameterValue value, T ParameterValue::* member,
                            const Result<T>& parsed) {
    if (!parsed) {
        return parsed.error();
    }
    value.*member = *parsed;
    return value;
}

Result<Nanoseconds> parse_offset(std::string_view text) {
    if (const std::optional<Nanoseconds> offset = parse_utc_offset(text)) {
        return *offset;
    }
    return Error{Errc::BadSyntax, "`" + std::string{text} +
                                      "` is no offset from UTC; write for instance "
                                      "+03:00, from -23:59 to +23:59"};
}

Result<KeptZone> parse_zone(std::string_view text) {
    const auto zone = read_time_zone(text);
    if (!zone) {
        return zone.error();
    }
    const KeptZone kept = KeptZone::keep(**zone);
    if (!kept) {
        return Error{Errc::TooMany, "too many time zones since this process began; the most are " +
                                        std::to_string(KeptZone::kMost)};
    }
    return kept;
}

Result<std::uint64_t> parse_word(std::span<const std::string_view> words, std::string_view text) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) {
        return Error{Errc::BadSyntax, "one of " + list_of(words)};
    }
    return static_cast<std::uint64_t>(found - words.begin());
}

// A rate of what a limit counts, as amounts are.
Result<Rate> parse_own_rate(std::string_view text, Per per) {
    const Result<Rate> rate = parse_rate(text, per);
    if (!rate && per != Per::Byte && parse_rate(text, Per::Byte)) {
        return Error{Errc::BadSyntax, "`" + std::string{text} +
                                          "` is a rate of bytes, and this limit counts none: say "
                                          "`per: byte`, or write a rate such as 50/s"};
    }
    return rate;
}

// An amount of what a limit counts: bytes as sizes, all else one by one.
Result<Units> parse_amount(std::string_view text, Per per) {
    if (per == Per::Byte) {
        return sluice::parse_size(text);
    }
    const Result<Units> count = sluice::parse_count(text);
    if (!count && sluice::parse_size(text)) {
        return Error{Errc::BadSyntax,
                     "`" + std::string{text} +
                         "` is an amount of bytes, and this limit counts none: say `per: byte`, or "
                         "write a number such as 200 or 4K"};
    }
    return count;
}

}  // namespace

Result<ParameterValue> parse_parameter(const Parameter& parameter, std::string_view text, Per per) {
    ParameterValue value{.kind = parameter.kind, .text = std::string{text}};
    switch (parameter.kind) {
        case ParameterKind::Rate:
            return with(std::move(value), &ParameterValue::rate, parse_own_rate(text, per));
        case ParameterKind::Amount:
            return with(std::move(value), &ParameterValue::units, parse_amount(text, per));
        case ParameterKind::Duration:
            return with(std::move(value), &ParameterValue::time, parse_duration(text));
        case ParameterKind::Offset:
            return with(std::move(value), &ParameterValue::time, parse_offset(text));
        case ParameterKind::Zone:
            return with(std::move(value), &ParameterValue::zone, parse_zone(text));
        case ParameterKind::Number:
            return with(std::move(value), &ParameterValue::number,
                        parse_number(text, parameter.most));
        case ParameterKind::Field:
            return value;  // read as a part of a key is
        default:
            return with(std::move(value), &ParameterValue::number,
                        parse_word(parameter.words, text));
    }
}

ParameterValue default_value(const Parameter& parameter) {
    ParameterValue value{.kind = parameter.kind, .text = "", .given = false};
    if (parameter.kind == ParameterKind::Word) {
        value.text = parameter.words.front();
    } else if (parameter.kind == ParameterKind::Number) {
        value.number = parameter.usual;
        value.text = std::to_string(parameter.usual);
    }
    return value;
}

}  // namespace sluice
