#include "control/cli/unknown_words.hpp"

#include "lib/policy/problems/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

std::string no_command(const std::string& word, const std::vector<CompletionWord>& words) {
    std::vector<std::string_view> known;
    for (const CompletionWord& one : words) {
        known.push_back(one.word);
    }
    return fmt::format("no command '{}'{}", word, did_you_mean(word, known));
}

// The options of a command, or with an empty word of none: its own and those that stand anywhere.
std::string no_option(const std::string& command, const std::string& option,
                      const std::vector<CompletionWord>& words) {
    std::vector<std::string_view> known;
    for (const CompletionWord& one : words) {
        if (one.word.empty() || one.word == command) {
            known.insert(known.end(), one.options.begin(), one.options.end());
        }
    }
    return fmt::format("{} no option '{}'{}",
                       command.empty() ? "there is" : fmt::format("`{}` has", command), option,
                       did_you_mean(option, known));
}

}  // namespace

std::string not_expected(const std::string& command, const std::vector<std::string>& more,
                         const std::vector<CompletionWord>& words) {
    const auto option = std::ranges::find_if(
        more, [](const std::string& one) { return one.size() > 1 && one.starts_with('-'); });
    if (option != more.end()) {
        return no_option(command, option->substr(0, option->find('=')), words);
    }
    return command.empty()
               ? no_command(more.front(), words)
               : fmt::format("`{}` takes no further '{}'", command, fmt::join(more, "' '"));
}

}  // namespace sluice
