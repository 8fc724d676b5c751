#pragma once
#include "control/json.hpp"
#include "lib/policy/compile.hpp"

#include <string>
#include <vector>

namespace sluice {

// A rule's stance, by which it comes by its units: {"kind","services","monitored",
// "beyond","text"}.
[[nodiscard]] Json stance_json(const Stance& stance);

// One service of a file, without the mode that the file gives it.
[[nodiscard]] Json service_json(const ServiceSummary& service);
[[nodiscard]] Json services_json(const std::vector<ServiceSummary>& services);

// Keys of a service beside its condition, in a line: "checksums auto, path both".
[[nodiscard]] std::string text_of(const std::vector<NamedText>& settings);

}  // namespace sluice
