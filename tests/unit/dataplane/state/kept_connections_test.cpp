#include "dataplane/state/kept_connections.hpp"
#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace sluice::kept_connections_test {
namespace {

namespace fs = std::filesystem;

constexpr ConnectionsShape kShape{
    .lineage = 7, .rss_mapping = 8, .workers = 2, .worker = 1, .connections = 64, .bytes = 9'984};

class KeptConnectionsTest : public testing::Test {
protected:
    void SetUp() override {
        folder = test::memory_folder("kept_connections");
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    // The first byte that was left there; another one is left.
    int open(const ConnectionsShape& shape) const {
        Result<KeptConnections> kept = KeptConnections::open(folder, shape);
        if (!kept) {
            return -1;
        }
        KeptMemory memory = kept->memory();
        auto* const bytes = static_cast<unsigned char*>(memory.take(shape.bytes).data());
        const int found = *bytes;
        *bytes = 42;
        return found;
    }
    [[nodiscard]] std::string file() const { return folder + "/connections-1"; }

    std::string folder;
};

TEST_F(KeptConnectionsTest, WhatOneProcessLeftTheNextFinds) {
    EXPECT_EQ(open(kShape), 0);
    EXPECT_EQ(open(kShape), 42);
    const auto mode = fs::status(file()).permissions();
    EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(KeptConnectionsTest, WhatCannotBeFoundAgainIsMadeAnew) {
    std::vector<ConnectionsShape> others(5, kShape);
    others[0].lineage = 1;
    others[1].rss_mapping = 1;
    others[2].workers = 4;
    others[3].connections = 65;
    others[4].bytes = 19'968;
    for (const ConnectionsShape& other : others) {
        EXPECT_EQ(open(kShape), 0);
        EXPECT_EQ(open(other), 0);
    }
}

TEST_F(KeptConnectionsTest, ADamagedHeaderOrAShortFileIsMadeAnew) {
    for (const int at : {0, 9, 20, 70, 100}) {
        (void)open(kShape);
        {
            std::fstream bytes{file(), std::ios::binary | std::ios::in | std::ios::out};
            bytes.seekp(at);
            bytes.put(static_cast<char>(0x5A));
        }
        EXPECT_EQ(open(kShape), 0) << at;
    }
    fs::resize_file(file(), 100);
    EXPECT_EQ(open(kShape), 0);
}

TEST_F(KeptConnectionsTest, WithoutAFolderThereIsNone) {
    fs::remove_all(folder);
    EXPECT_FALSE(KeptConnections::open(folder, kShape).has_value());
}

}  // namespace
}  // namespace sluice::kept_connections_test
