#pragma once
#include <string>
#include <vector>

namespace sluice {

// A command and its options; the empty word stands for all commands.
struct CompletionWord {
    std::string word;
    std::vector<std::string> options;
};

// A script for bash: `source <(sluicectl completion bash)`.
[[nodiscard]] std::string bash_completion(const std::vector<CompletionWord>& words);
// For zsh, as a file `_sluicectl` in $fpath, or sourced behind compinit.
[[nodiscard]] std::string zsh_completion(const std::vector<CompletionWord>& words);
// For fish: `sluicectl completion fish | source`.
[[nodiscard]] std::string fish_completion(const std::vector<CompletionWord>& words);

// "no command 'stat'; did you mean stats?"
[[nodiscard]] std::string no_command(const std::string& word,
                                     const std::vector<CompletionWord>& words);

}  // namespace sluice
