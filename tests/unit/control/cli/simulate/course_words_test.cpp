#include "control/cli/simulate/course_words.hpp"

#include <gtest/gtest.h>

namespace sluice::course_words_test {
namespace {

using namespace std::chrono_literals;

TEST(CourseWords, ABacklogLastsAsLongAsItTakesAndOthersTenSeconds) {
    SimulateOptions options;
    EXPECT_EQ(read_course(options)->duration, std::nullopt);
    options.load = "constant";
    EXPECT_EQ(read_course(options)->duration, 10s);
    options.duration = "3m";
    EXPECT_EQ(read_course(options)->duration, 3min);
}

TEST(CourseWords, StallsAreInOrder) {
    SimulateOptions options;
    options.stalls = {"6s:1s", "500ms:20ms"};
    const std::vector<Stall> expected{{Instant{500ms}, 20ms}, {Instant{6s}, 1s}};
    EXPECT_EQ(read_course(options)->stalls, expected);
}

TEST(CourseWords, MostIsCountedInTheWindowOfTheLimit) {
    SimulateOptions options;
    EXPECT_EQ(read_course(options)->window, 1s);
    options.limit["window"] = "5m";
    EXPECT_EQ(read_course(options)->window, 5min);
}

TEST(CourseWords, SayWhatIsWrong) {
    struct Row {
        void (*change)(SimulateOptions&);
        std::string_view says;
    };
    const Row rows[] = {
        {[](SimulateOptions& o) { o.stalls = {"4s"}; }, "START:LENGTH"},
        {[](SimulateOptions& o) { o.stalls = {"4s:x"}; }, "--stall"},
        {[](SimulateOptions& o) { o.bar = "0s"; }, "--bar"},
        {[](SimulateOptions& o) { o.bar = "900d"; }, "800d"},
        {[](SimulateOptions& o) { o.duration = "3"; }, "--duration"},
        {[](SimulateOptions& o) { o.duration = "10d"; }, "longer --bar"},
        {[](SimulateOptions& o) { o.seed = "-1"; }, "--seed"},
    };
    for (const Row& row : rows) {
        SimulateOptions options;
        row.change(options);
        const Result<Course> course = read_course(options);
        ASSERT_FALSE(course.has_value()) << row.says;
        EXPECT_NE(course.error().what.find(row.says), std::string::npos) << course.error().what;
    }
}

}  // namespace
}  // namespace sluice::course_words_test
