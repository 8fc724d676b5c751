#pragma once
#include "lib/match/public_suffixes.hpp"
#include "lib/policy/texts/text_form.hpp"
#include "lib/rules/text_name.hpp"

#include <optional>
#include <string>

namespace sluice {

// As find_form_fault(), of a text that a function makes of `compared.field`, whose own form the
// literal has. Without suffixes, what a registrable domain is stays open.
[[nodiscard]] std::optional<std::string> find_derived_fault(const ComparedText& compared,
                                                            const TextName& derived,
                                                            const PublicSuffixes* suffixes);

}  // namespace sluice
