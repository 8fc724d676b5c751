#include "control/daemon/token_gate.hpp"

#include "tests/unit/control/daemon/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <string>

namespace sluice::token_gate_test {
namespace {

constexpr const char* kToken = "0123456789abcdef";

TEST(TokenGate, OnlyTheTokenItselfOpensIt) {
    const TokenGate gate{kToken};
    EXPECT_TRUE(gate.admits("Bearer 0123456789abcdef"));
    EXPECT_TRUE(gate.admits("bearer 0123456789abcdef"));
    for (const char* const wrong :
         {"", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef",
          "Bearer 0123456789abcde", "Bearer 0123456789abcdeg", "Bearer 0123456789abcdef0",
          "Bearer  0123456789abcdef", "Bearer 0123456789abcdef ", "Bearer 0123456789ABCDEF"}) {
        EXPECT_FALSE(gate.admits(wrong)) << wrong;
    }
    EXPECT_FALSE(gate.admits("Bearer " + std::string(TokenGate::kLongest + 1, 'x')));
    const TokenGate longest{std::string(TokenGate::kLongest, 'x')};
    EXPECT_TRUE(longest.admits("Bearer " + std::string(TokenGate::kLongest, 'x')));
    EXPECT_FALSE(longest.admits("Bearer " + std::string(TokenGate::kLongest + 1, 'x')));
}

TEST(TokenGate, AFileThatOthersMayReadHasNoToken) {
    const TemporaryFolder folder;
    folder.write("token", std::string{kToken} + "\n");
    const std::string path = folder / "token";
    for (const mode_t mode : {0600U, 0400U, 0640U}) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        const auto gate = TokenGate::open(path);
        ASSERT_TRUE(gate) << gate.error().what;
        EXPECT_TRUE(gate->admits("Bearer 0123456789abcdef"));
    }
    for (const mode_t mode : {0604U, 0602U, 0620U, 0601U, 0777U}) {
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        const auto gate = TokenGate::open(path);
        ASSERT_FALSE(gate);
        EXPECT_NE(gate.error().what.find("lets others"), std::string::npos);
        EXPECT_EQ(gate.error().what.find(kToken), std::string::npos);
    }
}

}  // namespace
}  // namespace sluice::token_gate_test
