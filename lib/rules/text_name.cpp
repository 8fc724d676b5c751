#include "lib/rules/text_name.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool is_token_byte(char c) noexcept {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
}

TextName in_one_spelling(TextName name) {
    if (name.kind == TextName::Kind::Header) {
        std::transform(name.name.begin(), name.name.end(), name.name.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
    }
    return name;
}

std::string_view family_of(TextName::Kind kind) noexcept {
    return kTextFamilies[static_cast<std::size_t>(kind)].field;
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

bool is_text_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= kMaxTextNameSize &&
           std::all_of(name.begin(), name.end(), is_token_byte);
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

bool are_sound(const TextNames& names) {
    TextNames once;
    for (const TextName& name : names) {
        const std::size_t before = once.size();
        if (name.kind > TextName::Kind::Cookie || !is_text_name(name.name) ||
            add_text_name(name, once) != named_text(before) || once.size() == before) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice
