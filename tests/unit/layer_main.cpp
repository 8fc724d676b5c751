#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

// Layers that are compiled as one program are a test each all the same: each word of the command
// line is part of the paths of those sources whose tests run, and without a word all of them do.

namespace {

std::string tests_of(std::string_view path) {
    std::string names;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (std::string_view{test.file()}.find(path) != std::string_view::npos) {
                names += std::string{suite.name()} + "." + test.name() + ":";
            }
        }
    }
    return names;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    std::string chosen;
    for (int i = 1; i < argc; ++i) {
        const std::string names = tests_of(argv[i]);
        if (names.empty()) {
            std::fprintf(stderr, "no test is from %s\n", argv[i]);
            return 2;
        }
        chosen += names;
    }
    if (!chosen.empty()) {
        GTEST_FLAG_SET(filter, chosen);
    }
    return RUN_ALL_TESTS();
}
