#include "control/named_token.hpp"
#include "tests/fuzz/input.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace sluice;
using test::require;

}  // namespace

// Any text as the file of the dashboard's tokens: what is read spells itself, bad lines have their
// numbers, and a token that is taken out is the only one that goes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text{reinterpret_cast<const char*>(data), size};
    const TokenFile file = read_token_lines(text);
    require(file.tokens.size() <= kMostNamedTokens);
    std::size_t line = 0;
    for (const TokenProblem& problem : file.problems) {
        require(problem.line > line && !problem.what.empty());
        line = problem.line;
    }
    std::string spelt;
    for (const NamedToken& token : file.tokens) {
        spelt += token_line(token);
    }
    const TokenFile again = read_token_lines(spelt);
    require(again.problems.empty() && again.tokens == file.tokens);
    if (!file.tokens.empty()) {
        const Result<std::string> rest = without_token(spelt, file.tokens.front().name);
        require(rest && read_token_lines(*rest).tokens.size() + 1 == file.tokens.size());
        require(!with_token(spelt, file.tokens.front()));
    }
    (void)problems_text("tokens", file);
    return 0;
}
