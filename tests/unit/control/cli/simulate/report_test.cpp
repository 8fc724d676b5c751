#include "control/cli/simulate/report.hpp"

#include "control/cli/simulate/plot.hpp"
#include "control/cli/terminal.hpp"

#include <gtest/gtest.h>

namespace sluice::report_test {
namespace {

using namespace std::chrono_literals;

Run leaky_run() {
    const AnyLimit limit =
        LeakyBucketLimit{*Limit::make({.units = Units{2}, .period = 1s}, Units{2})};
    const Course course{.stalls = {{Instant{4s}, 1500ms}}, .duration = 2s, .bar = 500ms};
    Load load;
    load.backlog = Backlog{3, 1ms};
    return {"it's", limit, course, simulate(limit, load, course)};
}

TEST(Report, TimesHaveTheDecimalsTheyNeed) {
    EXPECT_EQ(seconds_text(0s, 100ms), "0.0");
    EXPECT_EQ(seconds_text(1300ms, 100ms), "1.3");
    EXPECT_EQ(seconds_text(1300ms, 1us), "1.300000");
    EXPECT_EQ(seconds_text(120s, 1min), "120");
    EXPECT_EQ(seconds_text(1s, 1s), "1");
    EXPECT_EQ(seconds_text(1s, 1ns), "1");
    EXPECT_EQ(seconds_text(1'500'000'001ns, 1ns), "1.500000001");
    EXPECT_EQ(seconds_text(250ms, 1ns), "0.25");
}

TEST(Report, ARunBarByBar) {
    set_colors(false);
    EXPECT_EQ(run_text(leaky_run()),
              "FROM s  OFFERED  ADMITTED  REFUSED  LEAVING\n"
              "   0.0        3         2        0        1\n"
              "   0.5        0         1        0        1\n"
              "   1.0        0         0        0        1\n"
              "   1.5        0         0        0        0\n"
              "it's: 3 of 3 admitted, the last at 0.5 s; most in any 1 s: 3\n");
}

TEST(Report, RunsSideBySide) {
    set_colors(false);
    EXPECT_EQ(comparison_text({leaky_run(), leaky_run()}),
              "asker stalled at 4s for 1.5s\n"
              "FROM s  it's  (leaving)  it's  (leaving)\n"
              "   0.0     2          1     2          1\n"
              "   0.5     1          1     1          1\n"
              "   1.0     0          1     0          1\n"
              "   1.5     0          0     0          0\n"
              "it's: 3 of 3 admitted, the last at 0.5 s; most in any 1 s: 3\n"
              "it's: 3 of 3 admitted, the last at 0.5 s; most in any 1 s: 3\n");
}

TEST(Report, AsJson) {
    const Json run = runs_json({leaky_run()})["runs"][0];
    EXPECT_EQ(run["algorithm"], "it's");
    EXPECT_EQ(run["stalls"][0]["from_ns"], 4'000'000'000);
    EXPECT_EQ(run["admitted"], 3);
    EXPECT_EQ(run["last_admitted_ns"], 500'000'000);
    EXPECT_EQ(run["bars"].size(), 4U);
    EXPECT_EQ(run["bars"][1]["from_ns"], 500'000'000);
    EXPECT_EQ(run["bars"][1]["leaving"], 1);
}

TEST(Plot, TellsGnuplotWhatIsInTheBars) {
    const std::string script = plot_script({leaky_run(), leaky_run()}, 2, "a 'b'.svg");
    for (const std::string_view part :
         {"set terminal svg size 1280,210 ", "set output 'a ''b''.svg'\n", "set boxwidth 0.5\n",
          "$run1 << EOD\n0.25 2 2 1\n0.75 1 1 1\n1.25 0 0 1\nEOD\n", "set multiplot layout 1,2\n",
          "set title 'it''s, asker stalled at 4s for 1.5s'\n",
          "rectangle from 4, graph 0 to 5.5, graph 1", "title 'leaving'"}) {
        EXPECT_NE(script.find(part), std::string::npos) << part << "\nin\n" << script;
    }
}

}  // namespace
}  // namespace sluice::report_test
