#include "control/daemon/settings.hpp"

#include "temporary_folder.hpp"

#include <gtest/gtest.h>

namespace sluice::settings_test {
namespace {

struct Read {
    std::optional<Settings> settings;
    int exit_code = 0;
    std::string said;
};
Read read(std::vector<std::string> words) {
    words.insert(words.begin(), "sluiced");
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    Read out;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    out.settings = read_settings(static_cast<int>(argv.size()), argv.data(), out.exit_code);
    out.said = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
    return out;
}

const std::string kConfig = R"(version: 1
memory: {tables: {state_dir: /var/lib/other}}
sockets:
  control: {path: /run/a/api.sock, mode: "0600", group: adm}
  dataplane: {path: /run/a/dp.sock}
rules: rules.yaml
log: {level: warn, format: json}
)";

TEST(Settings, Defaults) {
    const Read got = read({});
    ASSERT_TRUE(got.settings);
    EXPECT_EQ(got.settings->control.path, "/run/sluice/sluiced.sock");
    EXPECT_EQ(got.settings->control.mode, 0660U);
    EXPECT_EQ(got.settings->dataplane_socket, "/run/sluice/dataplane.sock");
    EXPECT_EQ(got.settings->state_dir, "/var/lib/sluice");
    EXPECT_EQ(got.settings->rules, "");
}

TEST(Settings, TheConfiguration) {
    const TemporaryFolder folder;
    folder.write("sluice.yaml", kConfig);
    const Read got = read({"--config", folder / "sluice.yaml"});
    ASSERT_TRUE(got.settings) << got.said;
    EXPECT_EQ(got.settings->control.path, "/run/a/api.sock");
    EXPECT_EQ(got.settings->control.mode, 0600U);
    EXPECT_EQ(got.settings->control.group, "adm");
    EXPECT_EQ(got.settings->dataplane_socket, "/run/a/dp.sock");
    EXPECT_EQ(got.settings->state_dir, "/var/lib/other");
    EXPECT_EQ(got.settings->rules, folder / "rules.yaml") << "relative to the configuration";
    EXPECT_EQ(got.settings->log_level, "warn");
    EXPECT_EQ(got.settings->log_format, "json");
}

TEST(Settings, TheCommandLineWins) {
    const TemporaryFolder folder;
    folder.write("sluice.yaml", kConfig);
    const Read got = read({"--socket",
                           "s",
                           "--socket-mode",
                           "0640",
                           "--socket-owner",
                           "o",
                           "--socket-group",
                           "g",
                           "--dataplane-socket",
                           "d",
                           "--state-dir",
                           "t",
                           "--rules",
                           "r",
                           "--log-level",
                           "debug",
                           "--log-format",
                           "journal",
                           "--config",
                           folder / "sluice.yaml"});
    ASSERT_TRUE(got.settings) << got.said;
    EXPECT_EQ(got.settings->control.path, "s");
    EXPECT_EQ(got.settings->control.mode, 0640U);
    EXPECT_EQ(got.settings->control.owner, "o");
    EXPECT_EQ(got.settings->control.group, "g");
    EXPECT_EQ(got.settings->dataplane_socket, "d");
    EXPECT_EQ(got.settings->state_dir, "t");
    EXPECT_EQ(got.settings->rules, "r");
    EXPECT_EQ(got.settings->log_level, "debug");
    EXPECT_EQ(got.settings->log_format, "journal");
}

TEST(Settings, WhatEndsTheProcess) {
    const TemporaryFolder folder;
    folder.write("bad.yaml", "version: 1\nprots: []\n");
    folder.write("later.yaml", "version: 1\ncluster: {node: scrub-1}\n");
    struct Row {
        std::vector<std::string> words;
        int exit_code;
        const char* says;
    };
    const Row rows[] = {
        {{"--version"}, 0, "sluiced " SLUICE_VERSION},
        {{"--help"}, 0, "--state-dir"},
        {{"--nonsense"}, 2, "sluiced: no option '--nonsense'\n"},
        {{"--confg", "x"}, 2, "sluiced: no option '--confg'; did you mean `--config`?\n"},
        {{"--socket=s", "--stat-dir=x"}, 2, "no option '--stat-dir'; did you mean `--state-dir`?"},
        {{"word"}, 2, "word"},
        {{"--socket"}, 2, "--socket"},
        {{"--log-level", "loud"}, 2, "loud"},
        {{"--log-format", "xml"}, 2, "xml"},
        {{"--socket-mode", "0999"}, 2, "octal"},
        {{"--socket-mode", "7777"}, 2, "octal"},
        {{"--config", folder / "absent.yaml"}, 1, "No such file"},
        {{"--config", folder.path()}, 1, "cannot read"},
        {{"--config", folder / "bad.yaml"}, 1, "bad.yaml:2:1: error: "},
        {{"--config", folder / "later.yaml"}, 1, "`name` of `cluster` has"},
    };
    for (const Row& row : rows) {
        const Read got = read(row.words);
        EXPECT_FALSE(got.settings) << row.words[0];
        EXPECT_EQ(got.exit_code, row.exit_code) << row.words[0];
        EXPECT_NE(got.said.find(row.says), std::string::npos) << got.said;
    }
}

}  // namespace
}  // namespace sluice::settings_test
