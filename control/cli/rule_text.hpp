#pragma once
#include "control/json.hpp"

#include <string>
#include <string_view>

namespace sluice {

// `GET /v1/rules/{id}/full` for people.
[[nodiscard]] std::string whole_rule_text(const Json& rule);

// `GET /v1/rules/files`: of one file its text, byte for byte; of several each behind a line
// `==> NAME <==`.
[[nodiscard]] std::string source_text(const Json& files);

// The mode that runs, what the file says if that is another, and until when.
[[nodiscard]] std::string mode_text_of(const Json& rule);
// The line that tells of a service's mode.
[[nodiscard]] std::string service_mode_text(const Json& service);
// A service of `GET /v1/rules` in full.
[[nodiscard]] std::string whole_service_text(const Json& service);

// The scope of a limit in a table: that of the box's workers, behind `cluster` if boxes share it.
[[nodiscard]] std::string scope_text(std::string_view of_workers, bool is_of_cluster);

// The answer to a set that was put in force.
[[nodiscard]] std::string applied_text(const Json& applied);

}  // namespace sluice
