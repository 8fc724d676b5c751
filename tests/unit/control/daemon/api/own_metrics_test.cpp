#include "control/daemon/api/own_metrics.hpp"

#include "tests/unit/control/daemon/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

namespace sluice::own_metrics_test {
namespace {

constexpr std::chrono::sys_seconds kWritten{std::chrono::seconds{1'764'000'000}};

void write_at(const std::string& file, std::chrono::sys_seconds when) {
    const timespec time{.tv_sec = when.time_since_epoch().count(), .tv_nsec = 0};
    const timespec both[2]{time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), both, 0), 0);
}

TEST(ListMetrics, NothingWithoutLists) {
    EXPECT_EQ(list_metrics({}, kWritten), "");
}

TEST(ListMetrics, AgeOfEachFile) {
    TemporaryFolder folder;
    folder.write("a", "192.0.2.0/24\n");
    write_at(folder / "a", kWritten);
    RuleView rules;
    rules.list_files = {folder / "a", folder / "gone"};
    const std::string text = list_metrics(rules, kWritten + std::chrono::milliseconds{90'500});
    EXPECT_TRUE(text.ends_with("\nsluice_list_age_seconds{file=\"" + (folder / "a") + "\"} 90.5\n"))
        << text;
    EXPECT_EQ(text.find("gone"), std::string::npos) << "a file that is away has no age";
}

}  // namespace
}  // namespace sluice::own_metrics_test
