#include "control/cli/simulate/course_words.hpp"

#include "control/simulation/course_words.hpp"

namespace sluice {

Result<Course> read_course(const SimulateOptions& options) {
    Result<Course> course = read_run(options, Spelling::Option);
    const auto window = options.limit.find("window");
    if (course && window != options.limit.end() && !window->second.empty()) {
        const Result<Nanoseconds> length = read_span("--window", window->second, Nanoseconds{1});
        if (!length) {
            return length.error();
        }
        course->window = *length;
    }
    return course;
}

}  // namespace sluice
