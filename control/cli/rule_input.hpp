#pragma once
#include "control/cli/daemon.hpp"
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/rule_files.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/lists/list_reader.hpp"

#include <variant>
#include <vector>

namespace sluice {

// The rule files that a command names, read; or what it ends with, which it has said.
[[nodiscard]] std::variant<RuleFiles, ExitCode> read_rules(const Options& options);

// Reads the lists that they name, beside the first of them.
[[nodiscard]] ListReader lists_of(const RuleFiles& files);

// Every problem with the line of its file and a caret, to standard error.
void say_file_problems(const std::vector<Problem>& problems, const RuleFiles& files);

// sluiced's answer to rule files, whose warnings have been said; or what the command ends with,
// once the refusal and its problems have been.
[[nodiscard]] std::variant<Json, ExitCode> answer_about(const RuleFiles& files,
                                                        std::variant<Json, DaemonRefusal> answer);

}  // namespace sluice
