#pragma once
#include "lib/policy/texts/text_form.hpp"

#include <optional>
#include <string>

// Names in the forms of block lists that are made for other programs. Fields of hosts have a name
// alone, and a comparison with another form would hold for nobody's traffic.
namespace sluice {

// Why a text is no name of a host, to be read behind the field's name, with the form that is one:
// a line of a hosts file or of dnsmasq, a filter of Adblock, a URL, a wildcard. nullopt: it is none
// of these.
[[nodiscard]] std::optional<std::string> find_name_form_fault(const ComparedText& compared);

}  // namespace sluice
