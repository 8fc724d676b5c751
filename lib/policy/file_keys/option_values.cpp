#include "lib/policy/file_keys/option_values.hpp"

#include "lib/base/whole_number.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kPerSecond = "/s";

std::string range_text(const CountRange& range) {
    return "from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

std::nullopt_t wrong(const ValuePlace& at, const std::string& what) {
    at.context.problems.error(at.map.find(at.key)->at, "`" + std::string{at.key} + "` is " + what);
    return std::nullopt;
}

// The text that a scalar has, or none; nullopt: the key is not there.
std::optional<std::string_view> text_at(const ValuePlace& at) {
    const YamlNode* value = at.map.find(at.key);
    if (value == nullptr) {
        return std::nullopt;
    }
    return value->is_scalar() ? std::string_view{value->text} : std::string_view{};
}

// A count or a size.
std::optional<std::uint64_t> units_in(const ValuePlace& at, const CountRange& range,
                                      Result<Units> (*parse)(std::string_view),
                                      const std::string& what) {
    const std::optional<std::string_view> text = text_at(at);
    if (!text) {
        return std::nullopt;
    }
    const Result<Units> units = parse(*text);
    if (units && range.holds(units->count())) {
        return units->count();
    }
    return wrong(at, what + "; found " + kind_name(*at.map.find(at.key)));
}

}  // namespace

std::optional<std::size_t> read_value(const ValuePlace& at, const form::Word& form) {
    const std::optional<std::size_t> word = at.map.word(at.key, form.words);
    return word ? std::optional{std::min(*word, form.last())} : std::nullopt;
}

std::optional<std::uint64_t> read_value(const ValuePlace& at, const form::Count& form) {
    return units_in(at, form.range, parse_count,
                    "a number such as 4096, 256k or 4M, " + range_text(form.range));
}

std::optional<std::uint64_t> read_value(const ValuePlace& at, const form::Size& form) {
    return units_in(at, form.range, parse_size,
                    "an amount such as 16KiB or 8000B, " + range_text(form.range) + " bytes");
}

std::optional<std::uint64_t> read_value(const ValuePlace& at, const form::Rate& form) {
    const std::optional<std::string> text = at.map.text(at.key);
    if (!text) {
        return std::nullopt;
    }
    const std::string_view digits = std::string_view{*text}.substr(0, text->rfind(kPerSecond));
    const std::optional<std::uint64_t> number =
        text->ends_with(kPerSecond) ? whole_number(digits) : std::nullopt;
    if (number && form.range.holds(*number)) {
        return number;
    }
    return wrong(at, "a rate from " + std::to_string(form.range.least) + "/s to " +
                         std::to_string(form.range.most) + "/s");
}

std::optional<std::uint64_t> read_value(const ValuePlace& at, const form::Plain& form) {
    if (!form.none.empty() && text_at(at) == form.none) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> number = at.map.number(at.key, form.range.most);
    if (number && *number < form.range.least) {
        return wrong(at, std::string{form.too_small});
    }
    return number;
}

std::optional<unsigned> read_value(const ValuePlace& at, const form::Percent& form) {
    const std::optional<unsigned> percent = at.map.percent(at.key);
    if (percent && !form.range.holds(*percent)) {
        return wrong(at, std::string{form.too_large});
    }
    return percent ? std::optional{*percent * form.unit} : std::nullopt;
}

std::optional<Nanoseconds> read_value(const ValuePlace& at, const form::Time& form) {
    const std::optional<std::string_view> text = text_at(at);
    if (!text) {
        return std::nullopt;
    }
    const Result<Nanoseconds> time = parse_duration(*text);
    if (time && form.range.holds(*time)) {
        return *time;
    }
    return wrong(at, "a duration " + std::string{form.text});
}

std::optional<std::string> read_value(const ValuePlace& at, const form::Text& form) {
    const std::optional<std::string> text = at.map.text(at.key);
    return text && !form.none.empty() && *text == form.none ? std::string{} : text;
}

std::optional<bool> read_value(const ValuePlace& at, const form::Flag&) {
    return at.map.flag(at.key);
}

std::string text_of(const form::Word& form, std::size_t value) {
    return std::string{form.words[value]};
}

std::string text_of(const form::Plain&, std::uint64_t value) {
    return std::to_string(value);
}

std::string text_of(const form::Percent& form, std::uint64_t value) {
    std::string text = std::to_string(value / form.unit);
    if (const std::uint64_t rest = value % form.unit; rest != 0) {
        const std::string digits = std::to_string(form.unit + rest).substr(1);
        text += "." + digits.substr(0, digits.find_last_not_of('0') + 1);
    }
    return text + "%";
}

std::string text_of(const form::Flag&, bool value) {
    return value ? "true" : "false";
}

}  // namespace sluice
