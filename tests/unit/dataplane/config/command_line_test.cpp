#include "dataplane/config/command_line.hpp"

#include <gtest/gtest.h>

namespace sluice::command_line_test {
namespace {

using Words = std::vector<std::string>;

const Words kPair{"--pair", "lab", "--outside", "net_null0,size=64", "--inside", "net_null1"};

Words with_pair(const Words& more) {
    Words all = kPair;
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// box.yaml has one pair and sizes of its own; anything else is refused.
Result<BoxConfig> read_box(const std::string& file) {
    if (file != "box.yaml") {
        return Error{Errc::BadSyntax, file + " is refused"};
    }
    BoxConfig box;
    box.pairs.push_back({.name = "file", .outside = {"net_tap0"}, .inside = {"net_tap1"}});
    box.lcores = "0,1,2";
    box.state_dir = "/file";
    box.mbufs = 8192;
    return box;
}

Result<CommandLine> parse(const Words& words) {
    return parse_command_line(words, read_box);
}

TEST(ParseCommandLine, ReadsPairsInOrder) {
    const Result<CommandLine> line =
        parse({"--pair", "a", "--outside", "0000:3b:00.0", "--inside=0000:3b:00.1", "--pair=b",
               "--outside=net_tap0,iface=x", "--inside", "net_tap1"});
    ASSERT_TRUE(line.has_value()) << line.error().what;
    EXPECT_EQ(line->kind, CommandLine::Kind::Run);
    ASSERT_EQ(line->box.pairs.size(), 2U);
    EXPECT_EQ(line->box.pairs[0].name, "a");
    EXPECT_EQ(line->box.pairs[0].outside.device, "0000:3b:00.0");
    EXPECT_EQ(line->box.pairs[0].inside.device, "0000:3b:00.1");
    EXPECT_EQ(line->box.pairs[1].outside.device, "net_tap0,iface=x");
    EXPECT_EQ(line->box.mbufs, BoxConfig{}.mbufs);
}

TEST(ParseCommandLine, OptionsStandOverTheFileWhereverItsNameStands) {
    for (const Words& words :
         {Words{"--config", "box.yaml", "--lcores", "0,1", "--socket", "/s", "--", "--config", "x"},
          Words{"--lcores=0,1", "--socket=/s", "--config=box.yaml", "--", "--config", "x"}}) {
        const Result<CommandLine> line = parse(words);
        ASSERT_TRUE(line.has_value()) << line.error().what;
        ASSERT_EQ(line->box.pairs.size(), 1U);
        EXPECT_EQ(line->box.pairs[0].name, "file");
        EXPECT_EQ(line->box.lcores, "0,1");
        EXPECT_EQ(line->box.dataplane.path, "/s");
        EXPECT_EQ(line->box.state_dir, "/file");
        EXPECT_EQ(line->box.mbufs, 8192U);
        EXPECT_EQ(line->eal, (Words{"--config", "x"}));
    }
}

TEST(ParseCommandLine, ForgetNeedsNoPorts) {
    const Result<CommandLine> line = parse({"--forget", "--state-dir", "/d"});
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->kind, CommandLine::Kind::Forget);
    EXPECT_EQ(line->box.state_dir, "/d");
    EXPECT_EQ(parse({"--help"})->kind, CommandLine::Kind::Help);
    EXPECT_EQ(parse({"--version"})->kind, CommandLine::Kind::Version);
}

TEST(ParseCommandLine, AFileThatIsRefusedIsNoWrongUsage) {
    const Result<CommandLine> line = parse({"--config", "bad.yaml"});
    ASSERT_FALSE(line.has_value());
    EXPECT_EQ(line.error().code, Errc::Refused);
    EXPECT_EQ(line.error().what, "bad.yaml is refused");
}

TEST(ParseCommandLine, SaysWhatIsWrong) {
    struct Wrong {
        Words words;
        std::string_view says;
    };
    const Wrong rows[] = {
        {{}, "there is no port pair"},
        {{"lab"}, "is no option"},
        {{"--frob"}, "there is no option --frob"},
        {{"--outside", "x"}, "--pair NAME must come before"},
        {{"--pair", "a", "--outside", "x"}, "needs a device outside and one inside"},
        {{"--pair", "a", "--outside", "x", "--inside", "x"}, "given twice"},
        {{"--pair", "a", "--outside", "x", "--outside", "y"}, "one device"},
        {with_pair({"--pair", "lab", "--outside", "x", "--inside", "y"}), "two port pairs"},
        {with_pair({"--config", "box.yaml", "--pair", "more"}), "pair more needs a device"},
        {with_pair({"--lcores"}), "needs a value, LIST"},
        {with_pair({"--state-dir="}), "needs a path"},
        {{"--config"}, "needs a value, FILE"},
    };
    for (const Wrong& row : rows) {
        const Result<CommandLine> line = parse(row.words);
        ASSERT_FALSE(line.has_value()) << row.says;
        EXPECT_EQ(line.error().code, Errc::BadSyntax);
        EXPECT_NE(line.error().what.find(row.says), std::string::npos) << line.error().what;
    }
}

TEST(Usage, NamesEveryOption) {
    for (const std::string_view option :
         {"--config FILE", "--pair NAME", "--lcores LIST", "--forget", "--version"}) {
        EXPECT_NE(usage().find(option), std::string::npos);
    }
}

}  // namespace
}  // namespace sluice::command_line_test
