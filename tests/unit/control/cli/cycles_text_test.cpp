#include "control/cli/cycles_text.hpp"

#include "lib/rules/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>

namespace sluice::cycles_text_test {
namespace {

Json stages(std::uint64_t each, std::uint64_t idle) {
    Json object;
    for (const StageRow& row : kStages) {
        object[std::string{row.name}] = row.stage == Stage::Idle ? idle : each;
    }
    return object;
}

Json worker(unsigned lcore, std::uint64_t packets, std::uint64_t each, std::uint64_t idle,
            std::uint64_t turns = 5) {
    return {{"lcore", lcore},
            {"cycles",
             {{"of_turns", 256},
              {"turns", turns},
              {"packets", packets},
              {"per_second", 2'000'000'000},
              {"stages", stages(each, idle)}}}};
}

Json of(std::vector<Json> workers) {
    return {{"workers", std::move(workers)}};
}

TEST(CyclesText, PerPacketByStageAndHowBusy) {
    const Json now = of({worker(1, 100, 1'250, 10'000), worker(2, 300, 60'000, 0)});
    EXPECT_EQ(cycles_text({now}),
              "LCORE  RECEIVE  PARSE  MATCH   KEY  LOCATE  METER  SEND  OTHER    ALL   BUSY\n"
              "    1     12.5   12.5   12.5  12.5    12.5   12.5  12.5   12.5    100   50 %\n"
              "    2      200    200    200   200     200    200   200    200  1,600  100 %\n"
              "  all      153    153    153   153     153    153   153    153  1,225   98 %\n"
              "cycles a packet, of 400 packets, one turn in 256; 2,000 are 1 us\n");
}

TEST(CyclesText, WithoutPacketsThereAreNoCyclesOfThem) {
    const Json now = of({worker(1, 0, 0, 500)});
    EXPECT_NE(cycles_text({now}).find("    1                                            "),
              std::string::npos);
    EXPECT_NE(cycles_text({now}).find("0 %\n"), std::string::npos);
}

TEST(CyclesText, OfTheLastSecondWhereThereIsASampleBefore) {
    const Json before = of({worker(1, 100, 1'000'000, 77)});
    const Json now = of({worker(1, 200, 1'001'000, 77, 6)});
    const std::string text = cycles_text({now, &before, 1.0});
    EXPECT_NE(text.find("of 100 packets"), std::string::npos) << text;
    EXPECT_NE(text.find("   10.0"), std::string::npos) << text;
}

TEST(CyclesText, ADataplaneThatBeganAnewCountsFromItsStart) {
    const Json before = of({worker(1, 1'000'000, 1'000'000, 77, 90)});
    const Json now = of({worker(1, 100, 1'000, 77, 6)});
    EXPECT_NE(cycles_text({now, &before, 1.0}).find("of 100 packets"), std::string::npos);
}

// A box that is hardly busy spends thousands of cycles on a packet that comes alone.
TEST(CyclesText, FitsEightyColumns) {
    for (const std::uint64_t each :
         {9'999ULL, 10'000ULL, 999'999ULL, 9'999'499ULL, 9'999'500ULL, 900'000'000ULL}) {
        const Json now =
            of({worker(63, 1, each, 1), worker(64, 1'000'000'000, 1'000'000'000 * each, 1)});
        std::istringstream lines{cycles_text({now})};
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), 80U) << line;
        }
    }
}

TEST(CyclesText, ManyCyclesAreThousandsOrMillions) {
    const auto ends_with = [](std::uint64_t each, const std::string& other,
                              const std::string& all) {
        const std::string text = cycles_text({of({worker(1, 1, each, 0)})});
        EXPECT_TRUE(std::regex_search(text, std::regex{" " + other + " +" + all + " +100 %\n"}))
            << text;
    };
    ends_with(9'999, "9,999", "80k");
    ends_with(60'400, "60k", "483k");
    ends_with(9'999'499, "9999k", "80M");
    ends_with(9'999'500, "10M", "80M");
}

}  // namespace
}  // namespace sluice::cycles_text_test
