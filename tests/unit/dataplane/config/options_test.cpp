#include "dataplane/config/options.hpp"

#include <gtest/gtest.h>

namespace sluice::options_test {
namespace {

using Words = std::vector<std::string>;

const Words kPair{"--pair", "lab", "--outside", "net_null0,size=64", "--inside", "net_null1"};

Words with_pair(const Words& more) {
    Words all = kPair;
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

TEST(ParseCommandLine, ReadsPairsInOrder) {
    const Result<CommandLine> line = parse_command_line({"--pair",
                                                         "a",
                                                         "--outside",
                                                         "0000:3b:00.0",
                                                         "--inside=0000:3b:00.1",
                                                         "--mtu",
                                                         "9000",
                                                         "--queues-outside",
                                                         "4",
                                                         "--rss-inside",
                                                         "destination",
                                                         "--no-link-follow",
                                                         "--no-hand-over",
                                                         "--pair",
                                                         "b",
                                                         "--outside",
                                                         "net_tap0,iface=x",
                                                         "--inside",
                                                         "net_tap1",
                                                         "--rss-outside",
                                                         "source_prefix"});
    ASSERT_TRUE(line.has_value()) << line.error().what;
    const DataplaneOptions& options = line->options;
    ASSERT_EQ(options.pairs.size(), 2U);
    EXPECT_EQ(options.pairs[0].inside.device, "0000:3b:00.1");
    EXPECT_EQ(options.pairs[0].mtu, 9000);
    EXPECT_EQ(options.pairs[0].outside.queues, 4U);
    EXPECT_EQ(options.pairs[0].inside.queues, std::nullopt);
    EXPECT_EQ(options.pairs[0].inside.rss, Rss::Destination);
    EXPECT_FALSE(options.pairs[0].link_follow);
    EXPECT_FALSE(options.pairs[0].hand_over);
    EXPECT_EQ(options.pairs[1].outside.device, "net_tap0,iface=x");
    EXPECT_TRUE(options.pairs[1].link_follow);
    EXPECT_TRUE(options.pairs[1].hand_over);
    EXPECT_EQ(options.pairs[1].outside.rss, Rss::SourcePrefix);
}

TEST(ParseCommandLine, ReadsTheBox) {
    const Result<CommandLine> line = parse_command_line(with_pair({"--lcores",
                                                                   "0@0,1@1",
                                                                   "--hugepages",
                                                                   "none",
                                                                   "--memory",
                                                                   "256",
                                                                   "--mbufs",
                                                                   "8192",
                                                                   "--table-keys",
                                                                   "4096",
                                                                   "--malformed",
                                                                   "pass",
                                                                   "--tunnels",
                                                                   "gre,ipip",
                                                                   "--socket",
                                                                   "/s",
                                                                   "--socket-mode",
                                                                   "0600",
                                                                   "--socket-group",
                                                                   "root",
                                                                   "--state-dir",
                                                                   "/d",
                                                                   "--watchdog-stall",
                                                                   "250",
                                                                   "--merge-interval",
                                                                   "250",
                                                                   "--idle-sleep",
                                                                   "50",
                                                                   "--log-level",
                                                                   "warn",
                                                                   "--",
                                                                   "--foo"}));
    ASSERT_TRUE(line.has_value()) << line.error().what;
    const DataplaneOptions& o = line->options;
    EXPECT_EQ(o.lcores, "0@0,1@1");
    EXPECT_EQ(o.huge_pages, HugePages::None);
    EXPECT_EQ(o.mbufs, 8192U);
    EXPECT_EQ(o.table_keys, 4096U);
    EXPECT_EQ(o.policy.malformed, MalformedPolicy::Pass);
    EXPECT_TRUE(o.policy.tunnels.gre && o.policy.tunnels.ipip && !o.policy.tunnels.vxlan);
    EXPECT_EQ(o.socket.mode, 0600U);
    EXPECT_EQ(o.watchdog_stall, std::chrono::milliseconds{250});
    EXPECT_EQ(o.idle_sleep, std::chrono::microseconds{50});
    EXPECT_EQ(o.merge_interval, std::chrono::microseconds{250});
    EXPECT_EQ(o.eal, Words{"--foo"});
}

TEST(ParseCommandLine, ConfigTakesTheRestAlong) {
    const Result<CommandLine> line =
        parse_command_line({"--mbufs", "1024", "--config", "box.yaml", "--", "--config", "x"});
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->kind, CommandLine::Kind::Config);
    EXPECT_EQ(line->config, "box.yaml");
    EXPECT_EQ(line->rest, (Words{"--mbufs", "1024", "--", "--config", "x"}));
}

struct Wrong {
    Words words;
    std::string_view says;
};

TEST(ParseCommandLine, SaysWhatIsWrong) {
    const Wrong rows[] = {
        {{}, "there is no port pair"},
        {{"lab"}, "is no option"},
        {{"--frob"}, "there is no option --frob"},
        {{"--outside", "x"}, "--pair NAME must come before"},
        {{"--pair", "a", "--outside", "x"}, "needs --outside and --inside"},
        {{"--pair", "a", "--outside", "x", "--inside", "x"}, "given twice"},
        {{"--pair", "a", "--outside", "x", "--outside", "y"}, "one device"},
        {with_pair({"--pair", "lab"}), "two pairs"},
        {with_pair({"--mtu"}), "needs a value"},
        {with_pair({"--mtu", "67"}), "from 68 to 65535"},
        {with_pair({"--mtu", "1500x"}), "not a number"},
        {with_pair({"--rss-outside", "ports"}), "five_tuple"},
        {with_pair({"--hugepages", "2M"}), "auto, required or none"},
        {with_pair({"--tunnels", "gre,,"}), "gre, vxlan and ipip"},
        {with_pair({"--socket-mode", "888"}), "octal"},
        {with_pair({"--malformed", "count"}), "drop or pass"},
        {with_pair({"--table-keys", "0"}), "from 1"},
    };
    for (const Wrong& row : rows) {
        const Result<CommandLine> line = parse_command_line(row.words);
        ASSERT_FALSE(line.has_value()) << row.says;
        EXPECT_NE(line.error().what.find(row.says), std::string::npos) << line.error().what;
    }
}

TEST(Usage, NamesEveryOption) {
    for (const std::string_view option : {"--pair NAME", "--config FILE", "--idle-sleep US"}) {
        EXPECT_NE(usage().find(option), std::string::npos);
    }
}

}  // namespace
}  // namespace sluice::options_test
