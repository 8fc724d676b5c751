#include "dataplane/state/kept_ports.hpp"
#include "dataplane/state/whole_file.hpp"

#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::kept_ports_test {
namespace {

class KeptPortsTest : public testing::Test {
protected:
    void SetUp() override {
        directory = test::memory_folder("kept_ports");
        std::filesystem::create_directories(directory);
    }
    void TearDown() override { std::filesystem::remove_all(directory); }

    std::string text() const {
        std::ifstream file{directory + "/ports"};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    [[nodiscard]] std::vector<KeptPort> kept() const {
        const Result<std::vector<KeptPort>> ports = KeptPorts{directory}.load();
        EXPECT_TRUE(ports) << ports.error().what;
        return ports ? *ports : none;
    }
    void write(const std::string& all) const { std::ofstream{directory + "/ports"} << all; }

    std::string directory;
    const std::vector<KeptPort> none;
    const std::vector<KeptPort> two{
        {{.index = 7, .name = "eth0"}, {{.mtu = 1500, .promiscuous = false}, 1400}, true},
        {{.index = 12, .name = "o:1-2.3"}, {{.mtu = 9000, .promiscuous = true}}, false}};
};

TEST_F(KeptPortsTest, TheNextProcessFindsWhatWasKept) {
    EXPECT_EQ(kept(), none);
    ASSERT_TRUE(KeptPorts{directory}.save(two).has_value());
    EXPECT_EQ(kept(), two);
    ASSERT_TRUE(KeptPorts{directory}.save({}).has_value());
    EXPECT_FALSE(std::filesystem::exists(directory + "/ports"));
    EXPECT_TRUE(KeptPorts{directory}.save({}).has_value()) << "there is nothing to remove";
}

// Another boot has other interfaces under the same numbers.
TEST_F(KeptPortsTest, WhatWasKeptInAnotherBootIsNothing) {
    ASSERT_TRUE(KeptPorts{directory}.save(two).has_value());
    const std::string all = text();
    write("x" + all);
    EXPECT_EQ(kept(), none);
    write(all);
    EXPECT_EQ(kept(), two);
}

// Nothing is lost of it: `--forget` in the wrong namespace leaves the file for the right one.
TEST_F(KeptPortsTest, WhatWasKeptInAnotherNetworkNamespaceIsAnErrorAndStays) {
    ASSERT_TRUE(KeptPorts{directory}.save(two).has_value());
    const std::string all = text();
    const std::string of_another = std::string{all}.insert(all.find('\n'), "0");
    write(of_another);
    const KeptPorts ports{directory};
    ASSERT_FALSE(ports.load());
    EXPECT_NE(ports.load().error().what.find("another network namespace"), std::string::npos);
    const Result<Done> restored = restore_all(ports);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().what, ports.load().error().what);
    EXPECT_EQ(text(), of_another);
}

// `--forget` has done with all that it can reach, and says of the rest how it goes.
TEST_F(KeptPortsTest, WhatWasPutAsideIsRestoredWhereItBelongs) {
    const KeptPorts ports{directory};
    ASSERT_TRUE(ports.save({{{.index = 1U << 30U, .name = "gone"}, {}, false}}).has_value());
    const std::string all = text();
    write(std::string{all}.insert(all.find('\n'), "0"));
    std::filesystem::rename(directory + "/ports", directory + "/ports.bad-7");
    std::ofstream{directory + "/ports.bad-8"} << all;
    std::ofstream{directory + "/ports.bad-9"} << "sluice ports 2 another-boot 1\n";
    std::ofstream{directory + "/ports.bad-my-notes"} << "not ours\n";
    const Result<Done> restored = restore_all_in(directory);
    ASSERT_FALSE(restored);
    EXPECT_NE(restored.error().what.find("ports.bad-7 is of another network namespace"),
              std::string::npos)
        << restored.error().what;
    EXPECT_NE(restored.error().what.find("once that namespace is gone, the file may be removed"),
              std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(directory + "/ports.bad-7"));
    EXPECT_FALSE(std::filesystem::exists(directory + "/ports.bad-8"));
    EXPECT_FALSE(std::filesystem::exists(directory + "/ports.bad-9"));
    EXPECT_TRUE(std::filesystem::exists(directory + "/ports.bad-my-notes"));
    std::filesystem::remove(directory + "/ports.bad-7");
    EXPECT_TRUE(restore_all_in(directory).has_value());
}

// A container has another namespace at each start.
TEST_F(KeptPortsTest, TheNewestThatWerePutAsideAreKept) {
    for (std::size_t i = 1; i <= kMostAside + 2; ++i) {
        std::ofstream{directory + "/ports.bad-" + std::to_string(i)} << i;
    }
    write("x");
    EXPECT_NE(put_file_aside(directory + "/ports").find("it is kept as"), std::string::npos);
    const std::vector<std::string> aside = files_aside(directory + "/ports");
    ASSERT_EQ(aside.size(), kMostAside);
    EXPECT_EQ(aside.front(), directory + "/ports.bad-4");
    EXPECT_FALSE(std::filesystem::exists(directory + "/ports"));
}

// Neither is a file that cannot be read, here a folder of its name.
TEST_F(KeptPortsTest, AFileThatCannotBeReadIsAnErrorAndStays) {
    std::filesystem::create_directories(directory + "/ports");
    EXPECT_FALSE(KeptPorts{directory}.load());
    EXPECT_FALSE(restore_all(KeptPorts{directory}));
    EXPECT_TRUE(std::filesystem::exists(directory + "/ports"));
}

TEST_F(KeptPortsTest, ABrokenLineIsLeftOut) {
    ASSERT_TRUE(KeptPorts{directory}.save(two).has_value());
    write(text() + "nonsense\n9 70000 0 0 0 big\n9 1500 0\n9 1500 0 0 eth1\n");
    EXPECT_EQ(kept(), two);
}

// A file of a version that did not keep the MTU that it had set.
TEST_F(KeptPortsTest, AFormerFileIsRead) {
    ASSERT_TRUE(KeptPorts{directory}.save({}).has_value());
    ASSERT_TRUE(KeptPorts{directory}.save(two).has_value());
    std::string all = text();
    all = all.substr(0, all.find('\n') + 1) + "7 1500 0 1 eth0\n";
    all.replace(all.find("ports 2"), 7, "ports 1");
    write(all);
    EXPECT_EQ(kept(),
              (std::vector<KeptPort>{
                  {{.index = 7, .name = "eth0"}, {{.mtu = 1500, .promiscuous = false}}, true}}));
}

TEST_F(KeptPortsTest, WithoutADirectoryItSaysThatItIsNotKept) {
    EXPECT_FALSE(KeptPorts{directory + "/absent"}.save(two).has_value());
}

}  // namespace
}  // namespace sluice::kept_ports_test
