#include "dataplane/config/lcore_check.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::lcore_check_test {
namespace {

// On a machine with four processors.
std::string fault_of(std::string_view list) {
    const Result<Done> checked = check_lcores(list, [](unsigned number) { return number < 4; });
    return checked ? "" : checked.error().what;
}

TEST(CheckLcores, TakesWhatDpdkTakes) {
    for (const char* good : {"0", "0,1", "0-3", "0@0,1@1", "0@0,(1-3)@(2-3)", "0@(0,1),1@(2-3),2",
                             "(0,2),1-3", "7@0,9@1"}) {
        EXPECT_EQ(fault_of(good), "") << good;
    }
}

TEST(CheckLcores, SaysWhatIsNoList) {
    for (const char* bad : {"", "x", "0,", ",0", "0@", "@0", "3-1", "0@(0", "(0@0", "0@0@0", "-1",
                            "0 1", "2000", "()", "0-", "0x1"}) {
        EXPECT_NE(fault_of(bad).find("is no list of lcores"), std::string::npos) << bad;
    }
}

TEST(CheckLcores, NamesTheProcessorThatIsNotThere) {
    EXPECT_EQ(fault_of("0@0,1@17"),
              "lcores: `1@17` names processor 17, which is not there for this process");
    EXPECT_NE(fault_of("0-7").find("processor 4"), std::string::npos);
}

TEST(MayRunOn, KnowsThisMachine) {
    EXPECT_FALSE(may_run_on(1023));
    EXPECT_FALSE(may_run_on(5000));
}

}  // namespace
}  // namespace sluice::lcore_check_test
