// The example files of the language and of the box, where they are at hand.
#include "lib/policy/box/box.hpp"
#include "lib/policy/compile.hpp"
#include "lib/wire/box_config_codec.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sluice::examples_test {
namespace {

// $SLUICE_SHARED, which scripts/test sets to the folder beside the repository.
std::filesystem::path shared_folder() {
    const char* given = std::getenv("SLUICE_SHARED");
    return given == nullptr ? "shared" : given;
}

std::optional<std::string> read_example(const std::string& name) {
    std::ifstream file{shared_folder() / "design" / name, std::ios::binary};
    if (!file) {
        return std::nullopt;
    }
    return std::string{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

void expect_only_warnings(const Problems& problems, std::string_view text) {
    for (const Problem& problem : problems.list()) {
        const bool known = problem.message.starts_with("not enforced yet: ") ||
                           problem.message.starts_with("cannot read ") ||
                           problem.message.starts_with(
                               "registrable_domain() needs the list of "
                               "public suffixes: cannot read ") ||
                           problem.message.starts_with("no rule asks `") ||
                           problem.message.starts_with("no rule uses the limit ") ||
                           // Its ports are not of net_af_xdp.
                           problem.message.starts_with("pair uplink ends with the process: ") ||
                           problem.message.starts_with("nothing is dropped early: ");
        EXPECT_TRUE(problem.severity == Severity::Warning && known) << render(problem, text);
    }
}

TEST(Examples, TheRuleFilePassesCheckAndIsRefusedForEnforcing) {
    const std::optional<std::string> text = read_example("rules.example.yaml");
    if (!text) {
        GTEST_SKIP() << "no rules.example.yaml in " << shared_folder();
    }
    Problems problems{"rules.example.yaml"};
    const auto checked = compile_rules({"r", *text}, Purpose::Check, {}, problems);
    ASSERT_TRUE(checked.has_value());
    EXPECT_GT(checked->rules.size(), 10U);
    expect_only_warnings(problems, *text);
    Problems refused{"rules.example.yaml"};
    EXPECT_FALSE(compile_rules({"r", *text}, Purpose::Enforce, {}, refused).has_value());
}

TEST(Examples, TheConfigurationPassesCheckAndReachesTheDataplaneWhole) {
    const std::optional<std::string> text = read_example("sluice.example.yaml");
    if (!text) {
        GTEST_SKIP() << "no sluice.example.yaml in " << shared_folder();
    }
    Problems problems{"sluice.example.yaml"};
    const std::optional<BoxConfig> box = read_box({"b", *text}, Purpose::Check, problems);
    ASSERT_TRUE(box.has_value());
    expect_only_warnings(problems, *text);
    const Result<BoxConfig> there = decode_box_config(encode(*box));
    ASSERT_TRUE(there.has_value()) << there.error().what;
    EXPECT_EQ(there->pairs.at(0).name, "uplink");
    EXPECT_EQ(there->pairs[0].mtu, 9000);
    EXPECT_EQ(there->pairs[0].inside.rss, Rss::Destination);
    EXPECT_EQ(there->mbufs, 256'000U);
    EXPECT_EQ(there->table_keys, 4'000'000U);
    EXPECT_EQ(there->state_dir, "/dev/hugepages/sluice");
    EXPECT_EQ(there->snapshot_file, "/var/lib/sluice/state.bin");
    EXPECT_EQ(there->snapshot_every, std::chrono::seconds{10});
    EXPECT_TRUE(there->tunnels.gre && there->tunnels.vxlan && there->tunnels.ipip);
    EXPECT_EQ(there->units.connections.max, 1'000'000U);
    EXPECT_EQ(there->units.connections.head_bytes, 16'384U);
    EXPECT_EQ(there->units.connections.when_full, FullConnections::Evict);
    EXPECT_EQ(there->units.fragments.policy, FragmentPolicy::FollowFirst);
    EXPECT_EQ(there->units.fragments.table, 64'000U);
    EXPECT_EQ(there->units.quic_initials_percent, 20U);
    EXPECT_EQ(there->control.group, "sluice");
    EXPECT_EQ(there->dataplane.path, "/run/sluice/dataplane.sock");
    EXPECT_EQ(there->rules, "/etc/sluice/rules.yaml");
    EXPECT_EQ(there->log_format, LogFormat::Journal);
}

}  // namespace
}  // namespace sluice::examples_test
