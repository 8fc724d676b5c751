#pragma once
#include "control/cli/options.hpp"

#include <string>
#include <vector>

namespace sluice {

// A command and its options; the empty word stands for all commands.
struct CompletionWord {
    std::string word;
    std::vector<std::string> options;
    std::vector<std::string> valued{};  // of these, those that a value follows
};

// A script for bash: `source <(sluicectl completion bash)`.
[[nodiscard]] std::string bash_completion(const std::vector<CompletionWord>& words);
// For zsh, as a file `_sluicectl` in $fpath, or sourced behind compinit.
[[nodiscard]] std::string zsh_completion(const std::vector<CompletionWord>& words);
// For fish: `sluicectl completion fish | source`.
[[nodiscard]] std::string fish_completion(const std::vector<CompletionWord>& words);

// The ids of the running rules, or of services too, a line each, for shells that complete them,
// without those that no rule can have. Empty where sluiced does not answer within 300 ms, or
// refuses: a shell is not to wait, nor to hear of it.
enum class RunningIds : bool { RulesAlone, All };
[[nodiscard]] std::string running_ids(const Options& options, RunningIds which);

// The numbers of the earlier sets that `rollback` takes, likewise.
[[nodiscard]] std::string earlier_sets(const Options& options);

// The text that `completion` prints for options.word.
[[nodiscard]] std::string completion_text(const Options& options,
                                          const std::vector<CompletionWord>& words);

}  // namespace sluice
