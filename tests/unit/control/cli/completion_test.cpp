#include "control/cli/completion.hpp"
#include "control/cli/unknown_words.hpp"

#include <gtest/gtest.h>

namespace sluice::completion_test {
namespace {

TEST(Completion, AnUnknownCommandNamesTheNearest) {
    EXPECT_EQ(not_expected("", {"stat"}, {{"", {"--json"}}, {"check", {}}, {"stats", {}}}),
              "no command 'stat'; did you mean `stats`?");
    EXPECT_EQ(not_expected("", {"zzzzzz"}, {{"", {}}, {"check", {}}}), "no command 'zzzzzz'");
}

TEST(Completion, AnUnknownOptionNamesTheNearestOfItsCommand) {
    const std::vector<CompletionWord> words{
        {"", {"--json"}}, {"keys", {"--rule", "--most"}}, {"top", {"--rules"}}};
    EXPECT_EQ(not_expected("keys", {"--ruel", "x"}, words),
              "`keys` has no option '--ruel'; did you mean `--rule`?");
    EXPECT_EQ(not_expected("keys", {"x", "--jsn=1"}, words),
              "`keys` has no option '--jsn'; did you mean `--json`?");
    EXPECT_EQ(not_expected("keys", {"-z"}, words), "`keys` has no option '-z'");
    EXPECT_EQ(not_expected("", {"--jsno"}, words),
              "there is no option '--jsno'; did you mean `--json`?");
}

TEST(Completion, WordsTooManyAreNamedInTheirOrder) {
    EXPECT_EQ(not_expected("keys", {"a", "b"}, {{"", {}}, {"keys", {}}}),
              "`keys` takes no further 'a' 'b'");
}

TEST(BashCompletion, OffersCommandsAndTheirOptions) {
    const std::string script =
        bash_completion({{"", {"--json"}}, {"check", {"--strict"}}, {"rules", {}}});
    EXPECT_NE(script.find("'') words=\"check rules --json\""), std::string::npos) << script;
    EXPECT_NE(script.find("check) words=\"--strict --json\""), std::string::npos) << script;
    EXPECT_NE(script.find("complete -F _sluicectl sluicectl"), std::string::npos);
}

TEST(ZshCompletion, OffersCommandsTheirOptionsAndTheirWords) {
    const std::string script =
        zsh_completion({{"", {"--json"}}, {"check", {"--strict"}}, {"panic", {}}});
    EXPECT_TRUE(script.starts_with("#compdef sluicectl\n"));
    EXPECT_NE(script.find("'') compadd -- check panic --json ;;"), std::string::npos) << script;
    EXPECT_NE(script.find("compadd -- --strict --json; else _files; fi"), std::string::npos);
    EXPECT_NE(script.find("panic:0:*) compadd -- pass resume; return ;;"), std::string::npos);
    EXPECT_NE(script.find("key:1:*) _sluicectl_ask rules; return ;;"), std::string::npos);
    EXPECT_NE(script.find("rule:1:replace) _files; return ;;"), std::string::npos);
}

TEST(FishCompletion, OffersCommandsTheirOptionsAndTheirWords) {
    const std::string script =
        fish_completion({{"", {"--json"}}, {"check", {"--strict"}}, {"panic", {}}});
    EXPECT_NE(script.find("-n __fish_use_subcommand -a 'check panic'\n"), std::string::npos);
    EXPECT_NE(script.find("complete -c sluicectl -l json\n"), std::string::npos) << script;
    EXPECT_NE(script.find("-n '__fish_seen_subcommand_from check' -l strict\n"), std::string::npos);
    EXPECT_NE(script.find("-n '__sluicectl_place panic 0' -a 'pass resume'\n"), std::string::npos);
    EXPECT_NE(script.find("-n '__sluicectl_place rule 1 delete' -a '(__sluicectl_ask rules)'\n"),
              std::string::npos);
    EXPECT_NE(script.find("-n '__fish_seen_subcommand_from check' -F\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::completion_test
