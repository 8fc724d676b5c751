#include "control/rule_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

// Files that a command names.
namespace sluice::rule_files_test {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "sluice-files-XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { fs::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) {
        std::ofstream{folder_ / name, std::ios::binary} << text;
    }
    Result<RuleFiles> read(const std::vector<std::string>& names) {
        std::vector<std::string> paths;
        for (const std::string& name : names) {
            paths.push_back((folder_ / name).string());
        }
        return read_rule_files(paths);
    }
    fs::path folder_;
};

TEST_F(Files, OneIsItself) {
    write("a.yaml", "x");
    const auto files = read({"a.yaml"});
    ASSERT_TRUE(files);
    EXPECT_EQ(files->label, folder_ / "a.yaml");
    EXPECT_EQ(files->text, "x");
    EXPECT_EQ(files->folder, folder_);
    EXPECT_TRUE(files->slices.empty());
}

TEST_F(Files, AFolderStandsForItsRuleFilesInTheOrderOfNames) {
    for (const char* name : {"b.yaml", "a.yml", "c.yaml.bak", ".d.yaml", "README"}) {
        write(name, name);
    }
    fs::create_directory(folder_ / "sub.yaml");
    const auto files = read({""});
    ASSERT_TRUE(files) << files.error().what;
    EXPECT_EQ(files->text, "a.ymlb.yaml");
    const auto parts = parts_of(files->text, files->slices);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].file, (folder_ / "a.yml").string());
    EXPECT_EQ(parts[0].text, "a.yml");
    EXPECT_EQ(parts[1].text, "b.yaml");
    EXPECT_EQ(parts[1].folder, folder_.string());
    EXPECT_EQ(text_with({parts[1].file.data(), {1, 1}, Severity::Error, "x"}, files->label,
                        files->text, files->slices),
              "b.yaml");
}

TEST_F(Files, SayWhatCannotBeRead) {
    const auto why = [this](const std::vector<std::string>& names) {
        const auto files = read(names);
        return files ? std::string{} : files.error().what;
    };
    EXPECT_NE(why({"none.yaml"}).find("No such file"), std::string::npos);
    EXPECT_NE(why({""}).find("no *.yaml"), std::string::npos);
    write("a.yaml", "x");
    EXPECT_NE(why({"a.yaml", "./a.yaml"}).find("named twice"), std::string::npos);
    fs::create_symlink("nowhere", folder_ / "z.yaml");
    EXPECT_NE(why({""}).find("z.yaml"), std::string::npos) << "what is gone is no smaller set";
    fs::remove(folder_ / "z.yaml");
    for (std::size_t i = 0; i <= kMaxRuleFiles; ++i) {
        write("n" + std::to_string(i) + ".yaml", "x");
    }
    EXPECT_NE(why({""}).find("at most 256"), std::string::npos);
    EXPECT_FALSE(read_rule_files({}));
}

TEST(LabelOf, NamesAFew) {
    EXPECT_EQ(label_of({"a", "b"}), "a, b");
    EXPECT_EQ(label_of({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace sluice::rule_files_test
