#include "control/cli/simulate/limit_words.hpp"

#include "lib/policy/limits/limit_algorithms.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

std::string option_name(std::string_view parameter) {
    std::string name = "--" + std::string{parameter};
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

// The value given; empty: none.
std::string_view given(const LimitWords& words, std::string_view parameter) {
    const auto found = words.find(std::string{parameter});
    return found == words.end() ? std::string_view{} : found->second;
}

// Algorithms that charge units of packets: what connections do is nothing that is simulated, nor
// what packets show.
std::vector<const LimitAlgorithm*> known_algorithms() {
    std::vector<const LimitAlgorithm*> known;
    for (const LimitAlgorithm& algorithm : limit_algorithms()) {
        if (algorithm.usual_per != Per::Connection && algorithm.field() == nullptr) {
            known.push_back(&algorithm);
        }
    }
    return known;
}

Result<const LimitAlgorithm*> find_algorithm(std::string_view name) {
    for (const LimitAlgorithm* algorithm : known_algorithms()) {
        if (algorithm->name == name) {
            return algorithm;
        }
    }
    const std::vector<std::string_view> names = algorithm_names();
    const std::string found = name.empty() ? "" : "; found '" + std::string{name} + "'";
    return Error{Errc::BadSyntax,
                 "--algorithm is one of " + list_of(names) + found + did_you_mean(name, names)};
}

// A word given that the algorithm does not have.
std::optional<Error> stray_word(const LimitAlgorithm& algorithm, const LimitWords& words) {
    for (const auto& [name, value] : words) {
        const bool known = std::any_of(algorithm.parameters.begin(), algorithm.parameters.end(),
                                       [&](const Parameter& one) { return one.name == name; });
        if (!known && !value.empty()) {
            return Error{Errc::BadSyntax,
                         "a " + std::string{algorithm.name} + " has no " + option_name(name)};
        }
    }
    return std::nullopt;
}

// A word that is not given is the first of its kind, `variant` too.
Result<ParameterValue> read_value(const LimitAlgorithm& algorithm, const Parameter& parameter,
                                  std::string_view text, Per per) {
    const std::string option = option_name(parameter.name);
    const bool is_word = parameter.kind == ParameterKind::Word;
    if (text.empty() && parameter.required && !is_word) {
        return Error{Errc::BadSyntax, std::string{algorithm.name} + " needs " + option};
    }
    if (text.empty()) {
        return default_value(parameter);
    }
    Result<ParameterValue> value = parse_parameter(parameter, text, per);
    if (!value) {
        return Error{value.error().code, option + (is_word ? " is " : ": ") + value.error().what};
    }
    return value;
}

Result<ParameterValues> read_values(const LimitAlgorithm& algorithm, const LimitWords& words,
                                    Per per) {
    ParameterValues values;
    for (const Parameter& parameter : algorithm.parameters) {
        const std::string_view text = given(words, parameter.name);
        if (has_meaning(parameter, values)) {
            Result<ParameterValue> value = read_value(algorithm, parameter, text, per);
            if (!value) {
                return value.error();
            }
            values[parameter.name] = *std::move(value);
        } else if (!text.empty()) {
            return Error{Errc::BadSyntax,
                         values.at("variant").text + " has no " + option_name(parameter.name)};
        }
    }
    return values;
}

}  // namespace

std::vector<std::string_view> algorithm_names() {
    std::vector<std::string_view> names;
    for (const LimitAlgorithm* algorithm : known_algorithms()) {
        names.push_back(algorithm->name);
    }
    return names;
}

std::vector<std::string_view> all_limit_words() {
    std::vector<std::string_view> all;
    for (const LimitAlgorithm* algorithm : known_algorithms()) {
        for (const Parameter& parameter : algorithm->parameters) {
            if (std::find(all.begin(), all.end(), parameter.name) == all.end()) {
                all.push_back(parameter.name);
            }
        }
    }
    return all;
}

Result<AnyLimit> read_limit_words(std::string_view algorithm, const LimitWords& words, Per per) {
    const Result<const LimitAlgorithm*> known = find_algorithm(algorithm);
    if (!known) {
        return known.error();
    }
    if (std::optional<Error> stray = stray_word(**known, words)) {
        return *std::move(stray);
    }
    const Result<ParameterValues> values = read_values(**known, words, per);
    if (!values) {
        return values.error();
    }
    const BuiltLimit built = build_limit(**known, *values, per);
    if (built.numbers) {
        return *built.numbers;
    }
    const auto fault =
        std::find_if(built.faults.begin(), built.faults.end(),
                     [](const LimitFault& one) { return one.severity == Severity::Error; });
    return fault->error;
}

}  // namespace sluice
