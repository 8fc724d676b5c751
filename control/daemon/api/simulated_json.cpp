#include "control/daemon/api/simulated_json.hpp"

#include "control/simulation/load_words.hpp"
#include "control/simulation/promise.hpp"
#include "control/simulation/run_record.hpp"
#include "control/simulation/simulate_line.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/policy/limits/limit_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sluice {
namespace {

// Columns of a sliding log, the most there are: one for some admitted units.
constexpr std::size_t kSimulatedLines = std::size_t{1} << 17;

// One letter for each fate.
constexpr std::string_view kFateLetters = "aydrw";

std::int64_t ns(Instant at) {
    return at.time_since_epoch().count();
}

Json dots_json(const DotList& list) {
    Json at = Json::array();
    Json units = Json::array();
    Json passes = Json::array();
    std::string fates;
    for (const Dot& dot : list.dots()) {
        at.push_back(ns(dot.at));
        units.push_back(dot.units);
        passes.push_back(dot.fate == Fate::Delayed ? Json(ns(dot.passes)) : Json());
        fates += kFateLetters[static_cast<std::size_t>(dot.fate)];
    }
    return {{"step_ns", list.step().count()},
            {"at_ns", std::move(at)},
            {"fates", std::move(fates)},
            {"units", std::move(units)},
            {"passes_ns", std::move(passes)}};
}

Json state_json(const StateCourse& state, const AnyLimit& limit) {
    Json left = Json::array();
    Json least = Json::array();
    for (const StateCourse::Column& column : state.columns()) {
        left.push_back(column.left);
        least.push_back(column.least);
    }
    return {{"step_ns", state.step().count()},
            {"most", most_of(limit).count()},
            {"left", std::move(left)},
            {"least", std::move(least)}};
}

Json days_json(const DayTally& tally, Nanoseconds start) {
    constexpr std::int64_t kHour = 3600;
    Json list = Json::array();
    for (const DayTally::Window& window : tally.windows()) {
        const Nanoseconds from = std::chrono::seconds{window.from};
        const Nanoseconds to = std::chrono::seconds{window.to};
        list.push_back({{"from_ns", (from - start).count()},
                        {"to_ns", (to - start).count()},
                        {"hours", static_cast<double>(window.to - window.from) / kHour},
                        {"offered", window.offered},
                        {"admitted", window.admitted}});
    }
    return {{"list", std::move(list)}, {"left_out", tally.left_out()}};
}

Json counts_json(const Outcome& out, std::uint64_t delayed) {
    return {{"offered", out.total.offered},
            {"admitted", out.total.admitted()},
            {"yellow", out.total.yellow},
            {"delayed", delayed},
            {"refused", out.total.refused},
            {"waiting", out.waiting},
            {"last_admitted_ns", out.last_admitted ? Json(ns(*out.last_admitted)) : Json()},
            {"cut", out.cut}};
}

Json run_json(const LoneLimit& limit, const SimulatedAsk& ask, const Course& course,
              const Outcome& out, const RunRecord& record) {
    // A run without a length has its end in it.
    const Nanoseconds length =
        course.duration.value_or(record.end().time_since_epoch() + Nanoseconds{1});
    return {
        {"algorithm", limit.algorithm},
        {"text", limit.text},
        {"unit", name_of(limit.per)},
        {"yaml", limit_yaml(limit)},
        {"line", simulate_line(limit, ask.words)},
        {"end_ns", ns(record.end())},
        {"counts", counts_json(out, record.delayed())},
        {"window_ns", course.window.count()},
        {"most_in_window", out.most_in_window},
        {"promised", promised_most(limit.numbers, course, length)},
        {"promise", limit.bound},
        {"dots", dots_json(record.dots())},
        {"state", state_json(record.state(), limit.numbers)},
        {"days", record.days() ? days_json(*record.days(), course.start) : Json()},
    };
}

Error too_many_arrivals() {
    return {Errc::TooMany, fmt::format("more than {} arrivals: a lower rate, smaller bursts or a "
                                       "shorter duration",
                                       kMostSimulatedArrivals)};
}

// The columns of a run whose length is known are of its final length at once.
Nanoseconds first_step(const Course& course) {
    constexpr Nanoseconds kLeast = std::chrono::microseconds{10};
    const Nanoseconds length = course.duration.value_or(Nanoseconds{0});
    return std::max<Nanoseconds>(kLeast, length / (kMostStateColumns - 1) + Nanoseconds{1});
}

Result<Json> run_one(const LoneLimit& limit, const SimulatedAsk& ask,
                     const std::function<bool()>& goes_on) {
    const Result<Load> load = draw_load(ask.words, limit.per, Spelling::Member);
    if (!load) {
        return load.error();
    }
    if (load->backlog && load->backlog->units > kMostSimulatedArrivals) {
        return too_many_arrivals();
    }
    Course course = ask.course;
    course.window = window_of(limit.numbers).value_or(course.window);
    course.lines = kSimulatedLines;
    course.most_arrivals = kMostSimulatedArrivals;
    RunRecord record{limit.numbers, course, first_step(course), goes_on};
    const Outcome out = simulate(limit.numbers, *load, course, &record);
    if (out.stopped) {
        return Error{Errc::Busy,
                     "it takes more of a processor than a simulation may have: fewer "
                     "arrivals or limits"};
    }
    const bool is_full = out.total.offered == kMostSimulatedArrivals * load->cost.count();
    if (out.cut && is_full && !load->backlog) {
        return too_many_arrivals();
    }
    return run_json(limit, ask, course, out, record);
}

}  // namespace

Result<Json> simulated_json(const SimulatedAsk& ask, const std::function<bool()>& goes_on) {
    Json runs = Json::array();
    for (const LoneLimit& limit : ask.limits) {
        Result<Json> run = run_one(limit, ask, goes_on);
        if (!run) {
            return run.error();
        }
        runs.push_back(*std::move(run));
    }
    return Json{{"ok", true},
                {"problems", simulation_problems(ask.warnings)},
                {"start_ns", ask.course.start.count()},
                {"runs", std::move(runs)}};
}

Json simulation_problems(const std::vector<Problem>& problems) {
    Json list = Json::array();
    for (const Problem& problem : problems) {
        const bool has_place = problem.at.line != 0;
        list.push_back({{"severity", problem.severity == Severity::Error ? "error" : "warning"},
                        {"of", problem.file},
                        {"line", has_place ? Json(problem.at.line) : Json()},
                        {"column", has_place ? Json(problem.at.column) : Json()},
                        {"text", problem.message}});
    }
    return list;
}

}  // namespace sluice
