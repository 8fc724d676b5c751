#include "control/cli/workers_text.hpp"

#include <gtest/gtest.h>

namespace sluice::workers_text_test {
namespace {

Json worker(unsigned lcore, std::uint64_t packets, std::uint64_t stalled_ms = 0) {
    return {{"lcore", lcore},
            {"stalled_ms", stalled_ms},
            {"stalls", 1},
            {"packets", packets},
            {"verdicts", {{"pass", packets - 3}, {"drop", 3}}},
            {"handed_over", 4},
            {"table_full", 5},
            {"table_entries", 60},
            {"table_slots", 1'024},
            {"lanes", {"uplink in q0"}}};
}

TEST(WorkersText, SumsStandBelowTheWorkers) {
    EXPECT_EQ(workers_text({{"workers", {worker(1, 1'000), worker(2, 500, 1'500)}}}),
              "LCORE  STATE                 STALLS  PACKETS  DROPPED  HANDED OVER  TABLE FULL  KEYS"
              "  TABLE SLOTS  RECEIVES\n"
              "    1  runs                       1    1,000        3            4           5    60"
              "        1,024  uplink in q0\n"
              "    2  stalled for 1,500 ms       1      500        3            4           5    60"
              "        1,024  uplink in q0\n"
              "  all                             2    1,500        6            8          10   120"
              "        2,048\n");
}

TEST(WorkersText, OneWorkerIsItsOwnSum) {
    EXPECT_EQ(workers_text({{"workers", {worker(1, 1'000)}}}).find("all"), std::string::npos);
}

TEST(WorkersText, LongStallsAreToldInMinutes) {
    EXPECT_NE(workers_text({{"workers", {worker(1, 9, 90'000)}}}).find("stalled for 1m30s"),
              std::string::npos);
}

}  // namespace
}  // namespace sluice::workers_text_test
