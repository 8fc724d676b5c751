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

}  // namespace sluice
