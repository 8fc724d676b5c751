#include "control/cli/completion.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, " "));
}

constexpr std::string_view kHead = R"(_sluicectl() {
    local word=${COMP_WORDS[COMP_CWORD]} command= words= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --socket) ((i++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    case $command in
)";

// What follows the command and is neither an option nor a file.
constexpr std::string_view kTail = R"(    esac
    local choices=
    case $command in
        mode) choices='monitor enforce off' ;;
        xdp) choices='status' ;;
        panic) choices='pass resume' ;;
        completion) choices=bash ;;
    esac
    if [[ -z $command || $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    elif [[ -n $choices ]]; then
        COMPREPLY=($(compgen -W "$choices" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _sluicectl sluicectl
)";

}  // namespace

std::string bash_completion(const std::vector<CompletionWord>& words) {
    std::string everywhere;
    std::string commands;
    std::string cases;
    for (const CompletionWord& word : words) {
        if (word.word.empty()) {
            everywhere = joined(word.options);
            continue;
        }
        commands += (commands.empty() ? "" : " ") + word.word;
        cases += fmt::format("        {}) words=\"{} {}\" ;;\n", word.word, joined(word.options),
                             everywhere);
    }
    const std::string no_command =
        fmt::format("        '') words=\"{} {}\" ;;\n", commands, everywhere);
    return std::string{kHead} + no_command + cases + std::string{kTail};
}

}  // namespace sluice
