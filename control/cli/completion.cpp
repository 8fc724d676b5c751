#include "control/cli/completion.hpp"

#include "lib/policy/problems/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

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

// What follows a command and is neither an option nor a file.
struct Choices {
    std::string_view command;
    std::string_view words;
};
constexpr auto kChoices =
    std::to_array<Choices>({{"mode", "monitor enforce off"},
                            {"rule", "add replace delete"},
                            {"key", "show list reset grant set unset ban unban"},
                            {"xdp", "status"},
                            {"panic", "pass resume"},
                            {"completion", "bash zsh fish"}});

std::string_view choices_of(std::string_view command) {
    const auto* const found =
        std::find_if(kChoices.begin(), kChoices.end(),
                     [&](const Choices& one) { return one.command == command; });
    return found == kChoices.end() ? std::string_view{} : found->words;
}

constexpr std::string_view kTail = R"(    esac
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

constexpr std::string_view kZshHead = R"(#compdef sluicectl
_sluicectl() {
    local command= i
    for ((i = 2; i < CURRENT; i++)); do
        case $words[i] in
            --socket) ((i++)) ;;
            -*) ;;
            *) command=$words[i]; break ;;
        esac
    done
    case $command in
)";
constexpr std::string_view kZshTail = R"(    esac
}
compdef _sluicectl sluicectl
)";

// The options and commands of all, apart.
struct Whole {
    std::string everywhere;
    std::string commands;
};

Whole whole_of(const std::vector<CompletionWord>& words) {
    Whole whole;
    for (const CompletionWord& word : words) {
        if (word.word.empty()) {
            whole.everywhere = joined(word.options);
        } else {
            whole.commands += (whole.commands.empty() ? "" : " ") + word.word;
        }
    }
    return whole;
}

}  // namespace

std::string bash_completion(const std::vector<CompletionWord>& words) {
    const Whole whole = whole_of(words);
    std::string cases =
        fmt::format("        '') words=\"{} {}\" ;;\n", whole.commands, whole.everywhere);
    std::string choices = "    local choices=\n    case $command in\n";
    for (const CompletionWord& word : words) {
        if (!word.word.empty()) {
            cases += fmt::format("        {}) words=\"{} {}\" ;;\n", word.word,
                                 joined(word.options), whole.everywhere);
        }
    }
    for (const Choices& one : kChoices) {
        choices += fmt::format("        {}) choices='{}' ;;\n", one.command, one.words);
    }
    return std::string{kHead} + cases + "    esac\n" + choices + std::string{kTail};
}

std::string zsh_completion(const std::vector<CompletionWord>& words) {
    const Whole whole = whole_of(words);
    std::string cases =
        fmt::format("        '') compadd -- {} {} ;;\n", whole.commands, whole.everywhere);
    for (const CompletionWord& word : words) {
        if (word.word.empty()) {
            continue;
        }
        const std::string_view choices = choices_of(word.word);
        cases += fmt::format(
            "        {}) if [[ $words[CURRENT] == -* ]]; then compadd -- {} {}; else {}; fi ;;\n",
            word.word, joined(word.options), whole.everywhere,
            choices.empty() ? "_files" : fmt::format("compadd -- {}", choices));
    }
    return std::string{kZshHead} + cases + std::string{kZshTail};
}

// Files are offered behind a command that has no words of its own.
std::string fish_completion(const std::vector<CompletionWord>& words) {
    const Whole whole = whole_of(words);
    std::string text = fmt::format(
        "complete -c sluicectl -f\ncomplete -c sluicectl -n __fish_use_subcommand -a '{}'\n",
        whole.commands);
    for (const CompletionWord& word : words) {
        const std::string when =
            word.word.empty() ? "" : fmt::format(" -n '__fish_seen_subcommand_from {}'", word.word);
        for (const std::string& option : word.options) {
            text += fmt::format("complete -c sluicectl{} -l {}\n", when,
                                std::string_view{option}.substr(2));
        }
        if (!word.word.empty()) {
            const std::string_view choices = choices_of(word.word);
            text += fmt::format("complete -c sluicectl{} {}\n", when,
                                choices.empty() ? "-F" : fmt::format("-a '{}'", choices));
        }
    }
    return text;
}

std::string no_command(const std::string& word, const std::vector<CompletionWord>& words) {
    std::vector<std::string_view> known;
    for (const CompletionWord& one : words) {
        known.push_back(one.word);
    }
    return fmt::format("no command '{}'{}", word, did_you_mean(word, known));
}

}  // namespace sluice
