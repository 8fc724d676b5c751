#include "dataplane/box/trust_watch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::trust_watch_test {
namespace {

TEST(TrustWatch, TellsOnceOfEachSideThatBeginsToBeTrusted) {
    TrustWatch watch;
    std::vector<std::string> told;
    const auto look = [&](ChecksumTrust clients, ChecksumTrust servers) {
        watch.look("web", {clients, servers},
                   [&](const std::string& service, std::string_view side) {
                       told.push_back(service + " " + std::string{side});
                   });
        return std::exchange(told, {});
    };
    using enum ChecksumTrust;
    using Lines = std::vector<std::string>;
    EXPECT_EQ(look(Off, Off), Lines{}) << "that is what the operator said";
    EXPECT_EQ(look(Learning, Verifying), Lines{});
    EXPECT_EQ(look(Trusting, Verifying), Lines{"web clients"});
    EXPECT_EQ(look(Trusting, Verifying), Lines{});
    EXPECT_EQ(look(Trusting, Trusting), Lines{"web servers"});
    EXPECT_EQ(look(Verifying, Verifying), Lines{});
    EXPECT_EQ(look(Trusting, Trusting), (Lines{"web clients", "web servers"}));
    watch.forget_but([](const std::string& id) { return id == "web"; });
    EXPECT_EQ(look(Trusting, Trusting), Lines{});
    watch.forget_but([](const std::string&) { return false; });
    EXPECT_EQ(look(Trusting, Trusting), (Lines{"web clients", "web servers"}));
}

}  // namespace
}  // namespace sluice::trust_watch_test
