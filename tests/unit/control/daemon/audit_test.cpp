#include "control/daemon/audit.hpp"

#include "temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

#include <sys/stat.h>

namespace sluice::audit_test {
namespace {

TEST(Audit, OneLineForEachChange) {
    const TemporaryFolder folder;
    Audit audit{folder / "state"};
    audit.write({.who = {.uid = 1000, .gid = 5, .pid = 42},
                 .call = "apply",
                 .before = "00",
                 .after = "0a",
                 .outcome = "done"});
    audit.write({.who = {},
                 .call = "mode \"x\"\n\xFF",
                 .before = "",
                 .after = "",
                 .outcome = "refused: \n"});
    std::istringstream lines{folder.read("state/audit.log")};
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto first = nlohmann::json::parse(line);
    EXPECT_EQ(first["uid"], 1000);
    EXPECT_EQ(first["pid"], 42);
    EXPECT_EQ(first["call"], "apply");
    EXPECT_EQ(first["before"], "00");
    EXPECT_EQ(first["after"], "0a");
    EXPECT_EQ(first["outcome"], "done");
    EXPECT_EQ(std::string{first["time"]}.size(), 20U);
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(nlohmann::json::parse(line)["outcome"], "refused: \n");
    EXPECT_FALSE(std::getline(lines, line));
    struct stat info{};
    ASSERT_EQ(::stat((folder / "state/audit.log").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(Audit, NothingInItActsOnATerminal) {
    const TemporaryFolder folder;
    Audit audit{folder / "state"};
    audit.write({.who = {},
                 .call = "key ban (\033 \u009B \u202E)",
                 .before = "",
                 .after = "",
                 .outcome = "done"});
    const std::string line = folder.read("state/audit.log");
    EXPECT_NE(line.find(R"x("key ban (\u001b \u009b \u202e)")x"), std::string::npos) << line;
    EXPECT_EQ(nlohmann::json::parse(line)["call"], "key ban (\033 \u009B \u202E)");
}

// A user of the dashboard whose calls are refused pushes no changes out of it.
TEST(Audit, RefusalsOfOneNameAreFew) {
    const TemporaryFolder folder;
    Audit audit{folder / "state"};
    const auto write = [&](const char* name, const char* outcome) {
        audit.write({.who = {},
                     .name = name,
                     .call = "confirm",
                     .before = "",
                     .after = "",
                     .outcome = outcome});
    };
    for (unsigned i = 0; i < Audit::kUnchangedAtOnce + 100; ++i) {
        write("eve", "refused: nothing to confirm");
    }
    const auto lines = [&] {
        const std::string text = folder.read("state/audit.log");
        return std::ranges::count(text, '\n');
    };
    EXPECT_LE(lines(), Audit::kUnchangedAtOnce + 1);
    const auto before = lines();
    write("eve", "done");
    write("bob", "refused: nothing to confirm");
    write("", "refused: of somebody by the socket");
    EXPECT_EQ(lines(), before + 3);
}

// Traces change nothing, and whoever may ask for them writes their conditions.
TEST(Audit, LooksOfOneNameAreFewAndShort) {
    const TemporaryFolder folder;
    Audit audit{folder / "state"};
    const auto look = [&](const char* name) {
        audit.write({.who = {},
                     .name = name,
                     .call = "trace",
                     .before = "",
                     .after = std::string(60'000, ' '),
                     .outcome = "done",
                     .changes = false});
    };
    for (unsigned i = 0; i < 2 * Audit::kUnchangedAtOnce; ++i) {
        look("eve");
    }
    const std::string flooded = folder.read("state/audit.log");
    EXPECT_LE(std::ranges::count(flooded, '\n'), Audit::kUnchangedAtOnce + 1);
    EXPECT_LT(flooded.size(), (Audit::kUnchangedAtOnce + 1) * 2 * kMostAuditText);
    EXPECT_NE(flooded.find("... (60000 bytes)"), std::string::npos);
    look("bob");
    const std::string after = folder.read("state/audit.log");
    EXPECT_EQ(std::ranges::count(after, '\n'), std::ranges::count(flooded, '\n') + 1);
}

TEST(Audit, NeverFillsTheDisk) {
    const TemporaryFolder folder;
    Audit audit{folder.path(), 1000};
    for (int i = 0; i < 100; ++i) {
        audit.write(
            {.who = {}, .call = std::to_string(i), .before = "", .after = "", .outcome = ""});
    }
    EXPECT_EQ(folder.names().size(), 2U);
    EXPECT_LT(folder.read("audit.log").size(), 1200U);
    EXPECT_LT(folder.read("audit.log.1").size(), 1200U);
    const std::string log = folder.read("audit.log");
    EXPECT_NE((folder.read("audit.log.1") + log).find("\"call\":\"99\""), std::string::npos);
}

}  // namespace
}  // namespace sluice::audit_test
