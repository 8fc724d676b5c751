#include "control/fleet/set_archive.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::set_archive_test {
namespace {

std::shared_ptr<const std::string> text(std::string bytes) {
    return std::make_shared<const std::string>(std::move(bytes));
}

TEST(SetArchive, OneFileComesBackAsItWas) {
    const SetArchive set{
        .files = {.label = "rules.yaml", .text = "version: 1\n", .folder = "/etc/sluice"}};
    const Result<SetArchive> read = archive_from(bytes_of(set));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->files.label, "rules.yaml");
    EXPECT_EQ(read->files.text, "version: 1\n");
    EXPECT_EQ(read->files.folder, "/etc/sluice");
    EXPECT_TRUE(read->files.slices.empty());
}

TEST(SetArchive, SeveralFilesAndListsComeBackByteForByte) {
    const std::string odd{"\xFF\0\n{", 4};
    const SetArchive set{.files = {.label = "a b",
                                   .text = "one\ntwo",
                                   .slices = {{"a", "/x", 4}, {"b", "/y", 3}},
                                   .folder = "/x"},
                         .lists = {{"l1", text(odd)}, {"l2", text("")}}};
    const Result<SetArchive> read = archive_from(bytes_of(set));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->files.slices, set.files.slices);
    EXPECT_EQ(read->files.text, set.files.text);
    ASSERT_EQ(read->lists.size(), 2U);
    EXPECT_EQ(*read->lists.at("l1"), odd);
    EXPECT_EQ(*read->lists.at("l2"), "");
}

TEST(SetArchive, TheNameIsThatOfTheBytes) {
    EXPECT_EQ(name_of_set("abc").sum,
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(name_of_set("abc").size, 3U);
}

TEST(SetArchive, WhatIsNoSetIsAnError) {
    const std::string file = R"({"name":"a","folder":"/","size":2})";
    for (const std::string& bytes : {
             std::string{},
             std::string{"{}"},
             std::string{"{}\n"},
             std::string{"[]\n"},
             std::string{R"({"label":"a","files":[],"lists":[]})"} + "\n",
             R"({"label":"a","files":[)" + file + R"(],"lists":[]})" + "\nx",
             R"({"label":"a","files":[)" + file + R"(],"lists":[]})" + "\nxyz",
             R"({"label":"a","files":[1],"lists":[]})" + std::string{"\n"},
             std::string{R"({"label":"a","files":[{"name":"a","folder":"/","size":-1}],)"} +
                 R"("lists":[]})" + "\n",
             R"({"label":"a","files":[)" + file + R"(],"lists":[{"path":"l","size":9}]})" + "\nxy",
             R"({"label":"a","files":[)" + file + R"(],"lists":[{"path":"l","size":0},)" +
                 R"({"path":"l","size":0}]})" + "\nxy",
         }) {
        EXPECT_FALSE(archive_from(bytes)) << bytes;
    }
}

}  // namespace
}  // namespace sluice::set_archive_test
