#include "control/cli/rule_input.hpp"

#include "control/cli/terminal.hpp"
#include "control/list_folder.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice {

std::variant<RuleFiles, ExitCode> read_rules(const Options& options) {
    const std::vector<std::string>& named = options.rules_files;
    if (options.pcap_file == "-" && std::find(named.begin(), named.end(), "-") != named.end()) {
        return refuse("standard input is either the rules or the capture", ExitCode::Usage);
    }
    Result<RuleFiles> files = read_rule_files(named);
    if (!files) {
        return refuse(files.error().what);
    }
    return *std::move(files);
}

// Lists of one file are named as the command names it.
ListReader lists_of(const RuleFiles& files) {
    if (files.slices.empty()) {
        return lists_beside(files.label);
    }
    return
        [folder = files.folder](const std::string& path) { return read_list_file(folder, path); };
}

void say_file_problems(const std::vector<Problem>& problems, const RuleFiles& files) {
    for (const Problem& problem : problems) {
        say_problems({problem},
                     {problem.file, text_with(problem, files.label, files.text, files.slices)});
    }
}

std::variant<Json, ExitCode> answer_about(const RuleFiles& files,
                                          std::variant<Json, DaemonRefusal> answer) {
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        say_file_problems(refusal->problems, files);
        return report(*refusal);
    }
    Json& document = std::get<Json>(answer);
    say_file_problems(problems_from(document.at("warnings")), files);
    return std::move(document);
}

}  // namespace sluice
