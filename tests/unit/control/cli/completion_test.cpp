#include "control/cli/completion.hpp"

#include <gtest/gtest.h>

namespace sluice::completion_test {
namespace {

TEST(BashCompletion, OffersCommandsAndTheirOptions) {
    const std::string script =
        bash_completion({{"", {"--json"}}, {"check", {"--strict"}}, {"rules", {}}});
    EXPECT_NE(script.find("'') words=\"check rules --json\""), std::string::npos) << script;
    EXPECT_NE(script.find("check) words=\"--strict --json\""), std::string::npos) << script;
    EXPECT_NE(script.find("complete -o filenames -F _sluicectl sluicectl"), std::string::npos);
}

}  // namespace
}  // namespace sluice::completion_test
