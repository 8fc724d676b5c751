#include "lib/policy/limits/parameter_reader.hpp"

namespace sluice {
namespace {

// The message for a wrong value of a parameter whose number has a unit.
std::string wrong_value(const Parameter& parameter, const YamlNode& node, const Error& error) {
    if (parameter.kind == ParameterKind::Offset) {
        return "`" + std::string{parameter.name} +
               "` is written \"+03:00\", from -23:59 to +23:59; found " + kind_name(node);
    }
    return error.what;
}

}  // namespace

std::optional<ParameterValue> ParameterReader::read(const Parameter& parameter) const {
    const std::string name = "`" + std::string{parameter.name} + "`";
    if (const YamlNode* node = map_.find(parameter.name)) {
        std::optional<ParameterValue> value = read_present(parameter, *node);
        return value || parameter.required ? value : default_value(parameter);
    }
    if (!parameter.required) {
        return default_value(parameter);
    }
    std::string choice;
    for (const std::string_view word : parameter.words) {
        choice += (choice.empty() ? ", " : " or ") + std::string{word};
    }
    context_.problems.error(map_.node().at, "a " + std::string{owner_} + " needs " + name + choice);
    return std::nullopt;
}

std::optional<ParameterValue> ParameterReader::read_present(const Parameter& parameter,
                                                            const YamlNode& node) const {
    switch (parameter.kind) {
        case ParameterKind::Word:
            if (!map_.word(parameter.name, parameter.words)) {
                return std::nullopt;
            }
            break;
        case ParameterKind::Number:
            if (!map_.number(parameter.name, parameter.most)) {
                return std::nullopt;
            }
            break;
        case ParameterKind::Offset:
        case ParameterKind::Zone:
        case ParameterKind::Field:
            if (!map_.text(parameter.name)) {
                return std::nullopt;
            }
            break;
        default:
            if (!node.is_scalar()) {
                context_.problems.error(node.at, "`" + std::string{parameter.name} +
                                                     "` must be a number with its unit");
                return std::nullopt;
            }
    }
    const Result<ParameterValue> value = parse_parameter(parameter, node.text, per_);
    if (!value) {
        context_.problems.error(node.at, wrong_value(parameter, node, value.error()));
        return std::nullopt;
    }
    return *value;
}

}  // namespace sluice
