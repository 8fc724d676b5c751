#include "dataplane/state/snapshot_thread.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace sluice::snapshot_thread_test {
namespace {

TEST(SnapshotThread, OneWritesAllOfThem) {
    std::set<std::thread::id> writers;
    int written = 0;
    int asked = 0;
    {
        const auto thread = SnapshotThread::start([&] {
            writers.insert(std::this_thread::get_id());
            ++written;
        });
        ASSERT_TRUE(thread.has_value()) << thread.error().what;
        while (asked < 100) {
            asked += (*thread)->ask() ? 1 : 0;
        }
    }
    EXPECT_EQ(written, asked);
    EXPECT_EQ(writers.size(), 1U);
    EXPECT_EQ(writers.count(std::this_thread::get_id()), 0U);
}

// No memory of the machine has room for its stack.
TEST(SnapshotThread, WhereThereIsNoneToBeHadItSaysSo) {
    const auto none = SnapshotThread::start([] {}, std::size_t{1} << 47);
    ASSERT_FALSE(none.has_value());
    EXPECT_NE(none.error().what.find("no thread for snapshots"), std::string::npos);
}

}  // namespace
}  // namespace sluice::snapshot_thread_test
