#include "lib/packet/text_name.hpp"

#include "lib/base/token.hpp"

#include <algorithm>

namespace sluice {
namespace {

TextName in_one_spelling(TextName name) {
    if (name.kind == TextName::Kind::Header) {
        std::transform(name.name.begin(), name.name.end(), name.name.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
    }
    return name;
}

constexpr std::size_t index_of(TextName::Kind kind) noexcept {
    return static_cast<std::size_t>(kind);
}
std::string_view family_of(TextName::Kind kind) noexcept {
    return kTextFamilies[index_of(kind)].field;
}
const TextFunction& function_of(TextName::Kind kind) noexcept {
    return kTextFunctions[index_of(kind) - index_of(TextName::Kind::PathPrefix)];
}

bool is_sound(const TextName& name) noexcept {
    if (name.kind > TextName::Kind::RegistrableDomain) {
        return false;
    }
    if (!name.is_derived()) {
        return is_text_name(name.name) && name.source == TextField{} && name.segments == 0;
    }
    const bool counts = name.kind == TextName::Kind::PathPrefix;
    return name.name.empty() && function_of(name.kind).sources.has(name.source) &&
           counts == (name.segments != 0) && name.segments <= kMaxSegments;
}

const TextName* find_named(TextField field, const TextNames& names) noexcept {
    const std::size_t index = static_cast<std::size_t>(field) - kTextFields.size();
    return is_named(field) && index < names.size() ? &names[index] : nullptr;
}

}  // namespace

std::optional<TextName::Kind> find_text_family(std::string_view field) noexcept {
    for (const TextFamily& family : kTextFamilies) {
        if (family.field == field) {
            return family.kind;
        }
    }
    return std::nullopt;
}

const TextFunction* find_text_function(std::string_view name) noexcept {
    const auto* const found =
        std::find_if(kTextFunctions.begin(), kTextFunctions.end(),
                     [&](const TextFunction& function) { return function.name == name; });
    return found == kTextFunctions.end() ? nullptr : found;
}

bool is_text_name(std::string_view name) noexcept {
    return name.size() <= kMaxTextNameSize && is_token(name);
}

std::optional<TextField> add_text_name(const TextName& name, TextNames& names) {
    const auto same = std::find_if(names.begin(), names.end(), [&](const TextName& one) {
        return in_one_spelling(one) == in_one_spelling(name);
    });
    const auto index = static_cast<std::size_t>(same - names.begin());
    if (same == names.end()) {
        if (names.size() == kMaxNamedTexts) {
            return std::nullopt;
        }
        names.push_back(name);
    }
    return named_text(index);
}

std::string spelled(const TextName& name) {
    if (name.is_derived()) {
        const std::string segments =
            name.segments == 0 ? "" : ", " + std::to_string(unsigned{name.segments});
        return std::string{function_of(name.kind).name} + "(" +
               std::string{row_of(name.source).name} + segments + ")";
    }
    return std::string{family_of(name.kind)} + "[\"" + name.name + "\"]";
}

std::string name_of(TextField field, const TextNames& names) {
    const TextName* name = find_named(field, names);
    return name == nullptr ? std::string{row_of(field).name} : spelled(*name);
}

std::string state_name_of(TextField field, const TextNames& names) {
    const TextName* name = find_named(field, names);
    return name == nullptr ? std::string{row_of(field).name} : spelled(in_one_spelling(*name));
}

bool is_folded(TextField field, const TextNames& names) noexcept {
    const TextName* name = find_named(field, names);
    return name == nullptr ? row_of(field).kind == TextKind::Folded
                           : name->kind == TextName::Kind::RegistrableDomain;
}

const TextName* find_derived(TextField field, const TextNames& names) noexcept {
    const TextName* name = find_named(field, names);
    return name != nullptr && name->is_derived() ? name : nullptr;
}

TextFieldSet derived_of(TextFieldSet fields, const TextNames& names) noexcept {
    TextFieldSet derived;
    for (const TextField field : kAllTextFields) {
        if (fields.has(field) && find_derived(field, names) != nullptr) {
            derived.add(field);
        }
    }
    return derived;
}

TextFieldSet sources_of(TextFieldSet fields, const TextNames& names) noexcept {
    TextFieldSet sources;
    for (const TextField field : kAllTextFields) {
        if (fields.has(field)) {
            const TextName* derived = find_derived(field, names);
            sources.add(derived == nullptr ? field : derived->source);
        }
    }
    return sources;
}

bool are_sound(const TextNames& names) {
    TextNames once;
    for (const TextName& name : names) {
        const std::size_t before = once.size();
        if (!is_sound(name) || add_text_name(name, once) != named_text(before) ||
            once.size() == before) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice
