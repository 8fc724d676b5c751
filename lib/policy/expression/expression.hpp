#pragma once
#include "lib/packet/client_address.hpp"
#include "lib/packet/field.hpp"
#include "lib/packet/text_name.hpp"
#include "lib/policy/texts/text_test.hpp"
#include "lib/policy/values/value_range.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// A condition as a tree. A leaf tests whether one field's value lies in a set, or tests one text.
struct Leaf {
    Field field{};
    bool negated = false;              // addresses: present and outside the set
    std::vector<NumberRange> numbers;  // sorted, disjoint
    std::vector<AddressRange> v4;
    std::vector<AddressRange> v6;
    bool from_list = false;  // its values are those of a list's file, and change with it
    ClientView client{};     // of client.ip: its network has to lie in the set
};

struct Expression {
    enum class Kind : std::uint8_t { Leaf, And, Or, Not, Text };
    Kind kind = Kind::Leaf;
    Leaf leaf;
    std::vector<Expression> parts;  // two or more of And, Or; one of Not
    TextTest text;                  // of Text
};

// Something in an expression, by the offset of its first byte.
struct Remark {
    std::size_t offset = 0;
    std::string text;
};

// A field in an expression, by the offset of its first byte.
struct FieldUse {
    std::size_t offset = 0;
    Field field{};
};

// A field by the name that it has in the expression.
struct NamedField {
    std::size_t offset = 0;
    std::string name;
    std::optional<Field> field;  // nullopt: a text
};

struct ParsedExpression {
    Expression tree;
    bool has_unknown_list = false;  // it names a list whose file could not be read
    std::vector<FieldUse> from_databases;
    std::vector<std::size_t> clients;  // the places of client.ip
    std::vector<std::size_t> domains;  // and of registrable_domain()
    std::vector<Remark> warnings;
    std::vector<NamedField> fields;  // all of them
};

inline constexpr std::size_t kMaxExpressionDepth = 64;

class NamedLists;
class SuffixFile;

// The names of a file that an expression can use.
struct Surroundings {
    NamedLists* lists = nullptr;      // what `$name` can be; nullptr: nothing
    ClientView client{};              // what client.ip is
    TextNames* text_names = nullptr;  // headers, ... are noted here; nullptr: none can be
    SuffixFile* suffixes = nullptr;   // what registrable domains are; nullptr: it is not checked
};

// Either the tree, or the first error.
[[nodiscard]] std::variant<ParsedExpression, Remark> parse_expression(
    std::string_view text, const Surroundings& around = {});

}  // namespace sluice
