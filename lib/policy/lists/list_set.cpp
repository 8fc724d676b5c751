#include "lib/policy/lists/list_set.hpp"

#include "lib/policy/expression/field_values.hpp"
#include "lib/policy/lists/named_lists.hpp"
#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <functional>
#include <span>

namespace sluice {
namespace {

// The type that a list must have for the operand; nullopt: no list holds such values.
std::optional<ListType> type_for(OperandKind kind) noexcept {
    switch (kind) {
        case OperandKind::Address:
            return ListType::Cidr;
        case OperandKind::Number:
        case OperandKind::Flag:
            return ListType::Number;
        case OperandKind::Name:
        case OperandKind::Country:
        case OperandKind::Text:
            return ListType::String;
        default:
            return std::nullopt;
    }
}

std::string_view name_of(ListType type) noexcept {
    return kListTypeNames[static_cast<std::size_t>(type)];
}

bool fits(TokenReader& reader, const Operand& operand, const Token& name, const NamedList& list) {
    const std::optional<ListType> type = type_for(operand.kind);
    if (!type) {
        return reader.fail(name.offset,
                           "no list holds values of " + operand.name + "; name them in { }");
    }
    if (list.values.type != *type) {
        return reader.fail(name.offset, "$" + name.text + " is a list of type " +
                                            std::string{name_of(list.values.type)} + ", and " +
                                            operand.name + " takes one of type " +
                                            std::string{name_of(*type)});
    }
    if (operand.prefix) {
        return reader.fail(name.offset, "prefix() is compared with values in { }; write `" +
                                            operand.name + " in $" + name.text + "`");
    }
    return true;
}

// Why no packet has a number of these; nullopt: one may.
std::optional<std::string> fault_of_numbers(const Operand& operand,
                                            const std::vector<NumberRange>& numbers) {
    const std::uint64_t max = most_of(operand);
    if (!numbers.empty() && numbers.back().last > max) {
        return operand.name + " is at most " + std::to_string(max);
    }
    const FieldValues* const known = operand.field ? find_field_values(*operand.field) : nullptr;
    const bool is_possible =
        known == nullptr ||
        std::all_of(numbers.begin(), numbers.end(), [known](const NumberRange& range) {
            return holds_any(*known, std::span{&range, 1});
        });
    return is_possible ? std::nullopt
                       : std::optional{operand.name + " is " + std::string{known->text}};
}

bool add_numbers(TokenReader& reader, const Operand& operand, const Token& name,
                 const NamedList& list, RangeSet& values) {
    const std::vector<NumberRange>& numbers = list.values.numbers;
    const bool has_gaps = operand.field && find_field_values(*operand.field) != nullptr;
    if (!numbers.empty() && (has_gaps || numbers.back().last > most_of(operand))) {
        std::string why;
        const auto entry = holds_entry(name.text, list, [&](const ListValues& one) {
            const auto fault = fault_of_numbers(operand, one.numbers);
            why = fault && why.empty() ? *fault : why;
            return fault.has_value();
        });
        if (entry) {
            return reader.fail(name.offset, *entry + ", and " + why);
        }
    }
    values.numbers = list.values.numbers;
    return true;
}

bool add_names(TokenReader& reader, const Operand& operand, const Token& name,
               const NamedList& list, RangeSet& values) {
    for (const std::string& text : list.values.texts) {
        const std::optional<std::uint64_t> number = number_of_name(operand, text);
        if (!number) {
            const std::span<const std::string_view> words = words_of(operand);
            return reader.fail(name.offset, holds_text(name.text, list, text) + ", and " +
                                                operand.name + " is one of " + list_of(words) +
                                                did_you_mean(text, words));
        }
        values.numbers.push_back({*number, *number});
    }
    return true;
}

bool add_countries(TokenReader& reader, const Operand& operand, const Token& name,
                   const NamedList& list, RangeSet& values) {
    for (const std::string& text : list.values.texts) {
        const std::uint16_t number = country_number(raised(text));
        if (number == 0) {
            return reader.fail(name.offset, holds_text(name.text, list, text) + ": " +
                                                not_a_country(operand, text));
        }
        values.numbers.push_back({number, number});
    }
    return true;
}

// Takes what the list holds; false: a value of it does not fit.
bool add_values(TokenReader& reader, const Operand& operand, const Token& name,
                const NamedList& list, RangeSet& values) {
    if (list.values.type == ListType::Number) {
        return add_numbers(reader, operand, name, list, values);
    }
    if (operand.kind == OperandKind::Name) {
        return add_names(reader, operand, name, list, values);
    }
    return operand.kind != OperandKind::Country ||
           add_countries(reader, operand, name, list, values);
}

}  // namespace

// "$name holds `70000` (ports.txt:3)", and how many others are like it; nullopt: no entry is.
std::optional<std::string> holds_entry(std::string_view name, const NamedList& list,
                                       const std::function<bool(const ListValues&)>& is_bad) {
    if (list.source.text == nullptr) {
        return std::nullopt;
    }
    const auto found = find_entry(*list.source.text, list.values.type, is_bad);
    if (!found) {
        return std::nullopt;
    }
    const std::string others =
        found->others == 0 ? ""
                           : " and " + std::to_string(found->others) +
                                 (found->others == 1 ? " more such line" : " more such lines");
    return "$" + std::string{name} + " holds \"" + found->entry + "\" (" + list.source.name + ":" +
           std::to_string(found->at.line) + ")" + others;
}

std::string holds_text(std::string_view name, const NamedList& list, std::string_view text) {
    const auto is_it = [text](const ListValues& one) {
        return !one.texts.empty() && one.texts.front() == text;
    };
    return holds_entry(name, list, is_it)
        .value_or("$" + std::string{name} + " holds \"" + std::string{text} + "\"");
}

std::optional<RangeSet> list_set(TokenReader& reader, const Operand& operand) {
    const Token name = reader.next();
    const NamedList* list = reader.lists() == nullptr ? nullptr : reader.lists()->find(name.text);
    if (list == nullptr) {
        const std::string meant =
            reader.lists() == nullptr ? "" : reader.lists()->nearest_to(name.text);
        (void)reader.fail(name.offset, "there is no list called $" + name.text + meant);
        return std::nullopt;
    }
    RangeSet values{.list = list};
    if (!list->known) {
        reader.note_unknown_list();
        values.not_built = true;
    }
    // A list without a type has been reported, so that this is not checked either.
    if (!list->file.empty() && !fits(reader, operand, name, *list)) {
        return std::nullopt;
    }
    values.v4 = list->values.v4;
    values.v6 = list->values.v6;
    if (operand.kind == OperandKind::Text) {
        values.texts = list->values.texts;
    }
    if (list->known && !add_values(reader, operand, name, *list, values)) {
        return std::nullopt;
    }
    return values;
}

}  // namespace sluice
