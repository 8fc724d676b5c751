#include "control/daemon/act_as.hpp"

#include "control/list_folder.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice::act_as_test {
namespace {

constexpr uid_t kSomebody = 65'534;

bool can_read(const TemporaryFolder& folder) {
    return read_list_file(folder.path(), "list").has_value();
}

TEST(ActAs, FilesOfOthersStayClosed) {
    const TemporaryFolder folder;
    folder.write("list", "192.0.2.1\n");
    if (::geteuid() != 0) {
        EXPECT_FALSE(ActAs{kSomebody}.works());
        return;
    }
    ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod((folder / "list").c_str(), 0600), 0);
    {
        const ActAs nobody{kSomebody};
        EXPECT_TRUE(nobody.works());
        EXPECT_FALSE(can_read(folder));
    }
    EXPECT_TRUE(can_read(folder)) << "and it is taken back";
    ASSERT_EQ(::chmod((folder / "list").c_str(), 0604), 0);
    {
        const ActAs nobody{kSomebody};
        EXPECT_TRUE(can_read(folder));
        EXPECT_EQ(::chmod(folder.path().c_str(), 0755), -1) << "it is not ours now";
    }
    ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
    const ActAs nobody{kSomebody};
    EXPECT_FALSE(can_read(folder)) << "a closed folder closes what is in it";
}

TEST(ActAs, OurselvesWeAlwaysAre) {
    const TemporaryFolder folder;
    folder.write("list", "");
    ASSERT_EQ(::chmod((folder / "list").c_str(), 0600), 0);
    const ActAs us{::geteuid()};
    EXPECT_TRUE(us.works());
    EXPECT_TRUE(can_read(folder));
}

TEST(ListFolder, OnlyRegularFilesAreRead) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    for (const std::string name : {"pipe", "nothing", "."}) {
        const Result<ListFile> read = read_list_file(folder.path(), name);
        ASSERT_FALSE(read) << name;
        EXPECT_EQ(read.error().code, Errc::Unreachable) << name;
    }
}

}  // namespace
}  // namespace sluice::act_as_test
