#pragma once
#include "lib/packet/field.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/packet/text_name.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// Why a field cannot be shown.
struct FieldFault {
    std::string what;
};

// A field of the headers, or a text: the payload, or one of a unit of a later layer.
using ShownField = std::variant<Field, TextField>;

struct FieldList {
    std::vector<ShownField> fields;  // in the order given
    TextNames text_names;            // of headers, cookies and functions of texts among them
};

// Fields by their names in the rule language. A name that a comma has cut inside its parentheses
// goes on in the next.
[[nodiscard]] std::variant<FieldList, FieldFault> parse_field_list(
    const std::vector<std::string>& names);

// Names that such a list may hold, but for those that hold a name of their own, as a header's does.
[[nodiscard]] std::vector<std::string_view> shown_field_names();

// The words that a list of tunnels may hold, without ports.
[[nodiscard]] std::vector<std::string_view> tunnel_choices();

// A list of tunnels as in sluice.yaml; "none" alone is none, an empty list all. The
// text is what is wrong.
[[nodiscard]] std::variant<Tunnels, std::string> parse_tunnels(
    const std::vector<std::string>& names);

}  // namespace sluice
