#include "control/cli/completion.hpp"

#include "control/cli/field_list.hpp"
#include "control/cli/simulate/limit_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, " "));
}

// In the place of words: the ids of the running rules and services, of rules alone, and the numbers
// of earlier sets, all asked of sluiced; files.
constexpr std::string_view kIds = "<ids>";
constexpr std::string_view kRules = "<rules>";
constexpr std::string_view kSets = "<sets>";
constexpr std::string_view kFiles = "<files>";

// Words that may follow a command at a place; places count from 0, options are none.
struct Choices {
    std::string_view command;
    unsigned place = 0;
    std::string_view first;  // behind this word at place 0; empty: behind any
    std::string_view words;
};
constexpr auto kChoices =
    std::to_array<Choices>({{"mode", 0, "", kIds},
                            {"mode", 1, "", "monitor enforce off"},
                            {"rule", 0, "", "add replace delete"},
                            {"rule", 1, "add", kFiles},
                            {"rule", 1, "replace", kFiles},
                            {"rule", 1, "delete", kRules},
                            {"rules", 0, "", kIds},
                            {"tenant", 0, "", "list show apply diff confirm rollback forget"},
                            {"tenant", 2, "", kFiles},
                            {"key", 0, "", "show list reset grant set unset ban unban"},
                            {"key", 1, "", kRules},
                            {"xdp", 0, "", "status"},
                            {"rollback", 0, "", kSets},
                            {"panic", 0, "", "pass resume"},
                            {"nodes", 0, "", "forget resize"},
                            {"rollout", 0, "", "status abort"},
                            {"notify", 0, "", "test"},
                            {"store", 0, "", "init check status forget resize"},
                            {"dashboard", 0, "", "token"},
                            {"dashboard", 1, "token", "add list remove"},
                            {"completion", 0, "", "bash zsh fish"}});

// Words that an option of a command takes; of a list, each behind a comma.
struct OptionChoices {
    std::string command;
    std::string option;
    std::string words;
    bool is_list = false;
};

// `--rule` is the id of a rule whatever the command; of a service too where it shows counts.
std::vector<OptionChoices> option_choices(const std::vector<CompletionWord>& words) {
    const auto joined_views = [](const std::vector<std::string_view>& names) {
        return fmt::format("{}", fmt::join(names, " "));
    };
    std::vector<OptionChoices> choices{
        {"rule", "--before", std::string{kRules}},
        {"rule", "--after", std::string{kRules}},
        {"top", "--by", "hits bits denied remaining"},
        {"top", "--window", "1s 10s 60s"},
        {"explain", "--proto", "tcp udp icmp"},
        {"explain", "--flags", "syn ack fin rst psh urg", true},
        {"inspect", "--fields", joined_views(shown_field_names()), true},
        {"inspect", "--tunnels", joined_views(tunnel_choices()), true},
        {"simulate", "--algorithm", joined_views(algorithm_names())},
        {"simulate", "--load", "backlog constant bursts poisson on-off edge hits capture"},
        {"simulate", "--per", "packet byte connection"},
        {"dashboard", "--role", "view operate admin"}};
    for (const CompletionWord& word : words) {
        if (std::ranges::find(word.options, "--rule") != word.options.end()) {
            choices.push_back(
                {word.word, "--rule", std::string{word.word == "stats" ? kIds : kRules}});
        }
    }
    return choices;
}

// Options that say where sluiced is, which asking it needs.
constexpr std::string_view kPlaceOptions = "--socket|--url|--token-file";

bool has_choices(std::string_view command) {
    return std::any_of(kChoices.begin(), kChoices.end(),
                       [&](const Choices& one) { return one.command == command; });
}

// A pattern of `case` in bash and zsh.
std::string pattern_of(const Choices& one) {
    return fmt::format("{}:{}:{}", one.command, one.place, one.first.empty() ? "*" : one.first);
}

// An id is text of the daemon that answers, which may be another box's: no shell expands it, and
// one that no rule can have is not offered. bash breaks words at : and =, such as the URL of a box,
// and replaces the last piece alone: pieces without a blank between are one word here, of which an
// offer leaves out the beginning.
constexpr std::string_view kHead = R"sh(_sluicectl() {{
    local command= first= words= choices= files=yes ask= value= list= place=0 i
    local line=$COMP_LINE piece= glue= cut=
    local -a at=() typed=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        [[ $line != [[:blank:]]* ]] || glue=
        line=${{line#"${{line%%[![:blank:]]*}}"}}
        piece=${{COMP_WORDS[i]}}
        line=${{line#"$piece"}}
        if [[ -n $glue && ( $glue == break || $piece == [:=]* ) ]]; then
            cut=${{typed[${{#typed[@]}} - 1]}}
            typed[${{#typed[@]}} - 1]+=$piece
        else
            cut=
            typed+=("$piece")
        fi
        glue=word
        [[ -z $piece || $piece == *[!:=]* ]] || glue=break
    done
    [[ $glue != break ]] || cut+=$piece
    local last=$((${{#typed[@]}} - 1))
    local word=${{typed[last]}} before=${{typed[last - 1]}}
    for ((i = 1; i < last; i++)); do
        case ${{typed[i]}} in
            {0}) at+=("${{typed[i]}}" "${{typed[i + 1]//[\\\"\']/}}"); ((i++)) ;;
            {1}) ((i++)) ;;
            -*) ;;
            *)
                if [[ -z $command ]]; then
                    command=${{typed[i]}}
                else
                    ((place)) || first=${{typed[i]}}
                    place=$((place + 1))
                fi
                ;;
        esac
    done
    case $command in
)sh";

constexpr std::string_view kTail = R"sh(    esac
    COMPREPLY=()
    if [[ $word == -* || ( -z $command && -z $value ) ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    elif [[ -n $ask ]]; then
        while IFS= read -r i; do
            [[ -z $i || $i == *[!a-z0-9.-]* || $i == [.-]* || $i != "$word"* ]] || COMPREPLY+=("$i")
        done <<<"$("${{typed[0]}}" "${{at[@]}}" completion "$ask" 2>/dev/null)"
    elif [[ -z $files ]]; then
        [[ -z $list || $word != *,* ]] && list= || list=${{word%,*}},
        COMPREPLY=($(compgen -P "$list" -W "$choices" -- "${{word#"$list"}}"))
    else
        compopt -o filenames 2>/dev/null
        while IFS= read -r i; do
            [[ -z $i ]] || COMPREPLY+=("$i")
        done <<<"$(compgen -f -- "$word")"
    fi
    COMPREPLY=("${{COMPREPLY[@]#"$cut"}}")
}}
complete -F _sluicectl sluicectl
)sh";

constexpr std::string_view kZshHead = R"sh(#compdef sluicectl
_sluicectl_ask() {{
    local -a found
    found=(${{(f)"$($words[1] $at completion $1 2>/dev/null)"}})
    compadd -- ${{${{found:#*[^a-z0-9.-]*}}:#[.-]*}}
}}
_sluicectl() {{
    local command= first= i
    local -i place=0
    local -a at
    for ((i = 2; i < CURRENT; i++)); do
        case $words[i] in
            {0}) at+=($words[i] $words[i+1]); ((i++)) ;;
            {1}) ((i++)) ;;
            -*) ;;
            *)
                if [[ -z $command ]]; then
                    command=$words[i]
                else
                    ((place)) || first=$words[i]
                    place=$((place + 1))
                fi
                ;;
        esac
    done
    case "${{command}}:$words[CURRENT-1]" in
{2}    esac
    if [[ $words[CURRENT] != -* ]]; then
        case "${{command}}:${{place}}:${{first}}" in
)sh";
constexpr std::string_view kZshTail = R"sh(    esac
}
compdef _sluicectl sluicectl
)sh";

constexpr std::string_view kFishHead = R"sh(function __sluicectl_ask
    set -l at
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        if contains -- $words[$i] --socket --url --token-file
            set -a at $words[$i] $words[(math $i + 1)]
        end
    end
    $words[1] $at completion $argv[1] 2>/dev/null | string match -r '^[a-z0-9][a-z0-9.-]*$'
end
function __sluicectl_list
    set -l before (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '^.*,')
    printf "$before%s\n" $argv
end
function __sluicectl_place
    set -l words
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word )sh";
constexpr std::string_view kFishTail = R"sh(
            set is_value 1
        else if not string match -q -- '-*' $word
            set -a words $word
        end
    end
    test (count $words) -eq (math $argv[2] + 1); or return 1
    test "$words[1]" = $argv[1]; or return 1
    test (count $argv) -lt 3; or test "$words[2]" = $argv[3]
end
complete -c sluicectl -f
)sh";

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

// The question to sluiced; empty: none.
std::string_view asked_for(std::string_view words) {
    return words == kIds ? "ids" : words == kRules ? "rules" : words == kSets ? "sets" : "";
}

// All options that a value follows, each once.
std::vector<std::string> valued_of(const std::vector<CompletionWord>& words) {
    std::vector<std::string> valued;
    for (const CompletionWord& word : words) {
        valued.insert(valued.end(), word.valued.begin(), word.valued.end());
    }
    std::sort(valued.begin(), valued.end());
    valued.erase(std::unique(valued.begin(), valued.end()), valued.end());
    return valued;
}

// Patterns of `case` for the option before the word, whatever the command.
std::string behind_option(std::string_view options) {
    std::string pattern = "*:" + std::string{options};
    for (std::size_t at = pattern.find('|'); at != std::string::npos;
         at = pattern.find('|', at + 1)) {
        pattern.insert(at + 1, "*:");
    }
    return pattern;
}

std::string bash_choice(const Choices& one) {
    const std::string does = !asked_for(one.words).empty()
                                 ? fmt::format("ask={}", asked_for(one.words))
                             : one.words == kFiles ? "files=yes"
                                                   : fmt::format("files= choices='{}'", one.words);
    return fmt::format("        {}) {} ;;\n", pattern_of(one), does);
}

std::string zsh_choice(const Choices& one) {
    const std::string does = !asked_for(one.words).empty()
                                 ? fmt::format("_sluicectl_ask {}", asked_for(one.words))
                             : one.words == kFiles ? "_files"
                                                   : fmt::format("compadd -- {}", one.words);
    return fmt::format("            {}) {}; return ;;\n", pattern_of(one), does);
}

std::string fish_choice(const Choices& one) {
    const std::string does = !asked_for(one.words).empty()
                                 ? fmt::format("-a '(__sluicectl_ask {})'", asked_for(one.words))
                             : one.words == kFiles ? "-F"
                                                   : fmt::format("-a '{}'", one.words);
    return fmt::format("complete -c sluicectl -n '__sluicectl_place {} {}{}{}' {}\n", one.command,
                       one.place, one.first.empty() ? "" : " ", one.first, does);
}

}  // namespace

std::string bash_completion(const std::vector<CompletionWord>& words) {
    const Whole whole = whole_of(words);
    std::string cases =
        fmt::format("        '') words=\"{} {}\" ;;\n", whole.commands, whole.everywhere);
    for (const CompletionWord& word : words) {
        if (!word.word.empty()) {
            cases += fmt::format("        {}) words=\"{} {}\" ;;\n", word.word,
                                 joined(word.options), whole.everywhere);
        }
    }
    cases += "    esac\n    case $command:$place:$first in\n";
    for (const Choices& one : kChoices) {
        cases += bash_choice(one);
    }
    const std::string valued = fmt::format("{}", fmt::join(valued_of(words), "|"));
    cases += "    esac\n    case $command:$before in\n";
    for (const OptionChoices& one : option_choices(words)) {
        const std::string_view asked = asked_for(one.words);
        cases += fmt::format("        {}:{}) ask={} files= value=yes{} choices='{}' ;;\n",
                             one.command, one.option, asked, one.is_list ? " list=yes" : "",
                             asked.empty() ? one.words : "");
    }
    cases += fmt::format("        {}) ask= files=yes value=yes ;;\n", behind_option(valued));
    return fmt::format(kHead, kPlaceOptions, valued) + cases + fmt::format(kTail);
}

std::string zsh_completion(const std::vector<CompletionWord>& words) {
    const Whole whole = whole_of(words);
    std::string cases;
    for (const Choices& one : kChoices) {
        cases += zsh_choice(one);
    }
    cases +=
        fmt::format("        esac\n    fi\n    case $command in\n        '') compadd -- {} {} ;;\n",
                    whole.commands, whole.everywhere);
    for (const CompletionWord& word : words) {
        if (!word.word.empty()) {
            cases += fmt::format(
                "        {}) if [[ $words[CURRENT] == -* ]]; then compadd -- {} {}; else _files; "
                "fi ;;\n",
                word.word, joined(word.options), whole.everywhere);
        }
    }
    const std::string valued = fmt::format("{}", fmt::join(valued_of(words), "|"));
    std::string options;
    for (const OptionChoices& one : option_choices(words)) {
        const std::string_view asked = asked_for(one.words);
        options += fmt::format(
            "        {}:{}) {}{}; return ;;\n", one.command, one.option,
            one.is_list ? "compset -P '*,'; " : "",
            asked.empty() ? "compadd -- " + one.words : fmt::format("_sluicectl_ask {}", asked));
    }
    options += fmt::format("        {}) _files; return ;;\n", behind_option(valued));
    return fmt::format(kZshHead, kPlaceOptions, valued, options) + cases + std::string{kZshTail};
}

// Files are offered behind a command that has no words of its own.
std::string fish_completion(const std::vector<CompletionWord>& words) {
    const Whole whole = whole_of(words);
    std::string text{kFishHead};
    text += fmt::format("{}", fmt::join(valued_of(words), " ")) + std::string{kFishTail};
    text += fmt::format("complete -c sluicectl -n __fish_use_subcommand -a '{}'\n", whole.commands);
    for (const CompletionWord& word : words) {
        const std::string when =
            word.word.empty() ? "" : fmt::format(" -n '__fish_seen_subcommand_from {}'", word.word);
        for (const std::string& option : word.options) {
            text += fmt::format("complete -c sluicectl{} -l {}\n", when,
                                std::string_view{option}.substr(2));
        }
        if (!word.word.empty() && !has_choices(word.word)) {
            text += fmt::format("complete -c sluicectl{} -F\n", when);
        }
    }
    for (const Choices& one : kChoices) {
        text += fish_choice(one);
    }
    for (const OptionChoices& one : option_choices(words)) {
        const std::string_view asked = asked_for(one.words);
        text += fmt::format(
            "complete -c sluicectl -n '__fish_seen_subcommand_from {}' -l {} -x -a '{}'\n",
            one.command, one.option.substr(2),
            one.is_list     ? fmt::format("(__sluicectl_list {})", one.words)
            : asked.empty() ? one.words
                            : fmt::format("(__sluicectl_ask {})", asked));
    }
    return text;
}

}  // namespace sluice
