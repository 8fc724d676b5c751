#include "lib/policy/domains/suffix_list.hpp"

#include <idn2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace sluice {
namespace {

// BadSyntax: it is no host name.
Result<std::string> in_a_labels(std::string_view name) {
    std::uint8_t* found = nullptr;
    const int failed =
        idn2_lookup_u8(reinterpret_cast<const std::uint8_t*>(std::string{name}.c_str()), &found,
                       IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    const std::unique_ptr<std::uint8_t, decltype(&idn2_free)> text{found, &idn2_free};
    if (failed != IDN2_OK) {
        return Error{Errc::BadSyntax, idn2_strerror(failed)};
    }
    return std::string{reinterpret_cast<const char*>(text.get())};
}

// The first word of a line; empty: it has no rule.
std::string_view rule_of(std::string_view line) {
    const std::string_view rule = line.substr(0, line.find_first_of(" \t\r"));
    return rule.starts_with("//") ? std::string_view{} : rule;
}

struct SuffixLine {
    std::string_view name;
    std::uint8_t kind = 0;
};

SuffixLine read_line(std::string_view rule) {
    if (rule.starts_with('!')) {
        return {rule.substr(1), SuffixRule::kException};
    }
    if (rule.starts_with("*.")) {
        return {rule.substr(2), SuffixRule::kWildcard};
    }
    return {rule, SuffixRule::kExact};
}

Error bad_line(std::size_t line, const std::string& why) {
    return {Errc::BadSyntax,
            "line " + std::to_string(line) + " is no rule of public suffixes: " + why};
}

}  // namespace

Result<std::vector<SuffixRule>> read_suffix_list(std::string_view text) {
    std::map<std::string, std::uint8_t> kinds;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = text.find('\n');
        const SuffixLine rule = read_line(rule_of(text.substr(0, end)));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (rule.name.empty() && rule.kind == SuffixRule::kExact) {
            continue;
        }
        const Result<std::string> name = in_a_labels(rule.name);
        if (!name) {
            return bad_line(line, name.error().what);
        }
        if (!are_sound({{*name, rule.kind}})) {
            return bad_line(line, "it is no host name");
        }
        kinds[*name] |= rule.kind;
        if (kinds.size() > kMaxSuffixRules) {
            return Error{Errc::TooMany, "the list of public suffixes has more than " +
                                            std::to_string(kMaxSuffixRules) + " rules"};
        }
    }
    std::vector<SuffixRule> rules;
    rules.reserve(kinds.size());
    for (const auto& [name, kind] : kinds) {
        rules.push_back({name, kind});
    }
    return rules;
}

}  // namespace sluice
