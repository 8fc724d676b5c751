#include "control/cli/simulate/report.hpp"

#include "control/cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::string about(const Run& run) {
    const Outcome& out = run.outcome;
    std::string text = fmt::format("{}: {} of {} admitted", run.name, grouped(out.total.admitted()),
                                   grouped(out.total.offered));
    if (out.last_admitted) {
        text += fmt::format(", the last at {} s",
                            seconds_text(out.last_admitted->time_since_epoch(), Nanoseconds{1}));
    }
    text += fmt::format("; most in any {} s: {}", seconds_text(run.course.window, Nanoseconds{1}),
                        grouped(out.most_in_window));
    if (out.waiting != 0) {
        text += fmt::format("; still waiting: {}", grouped(out.waiting));
    }
    return text + (out.cut ? "; cut short\n" : "\n");
}

}  // namespace

bool is_queue(const Run& run) {
    return std::holds_alternative<LeakyBucketLimit>(run.limit);
}
bool is_color_meter(const Run& run) {
    return std::holds_alternative<ColorLimit>(run.limit);
}

std::string seconds_text(Nanoseconds time, Nanoseconds step) {
    std::string text = fmt::format("{}.{:09}", time.count() / kSecond, time.count() % kSecond);
    // Digits that no multiple of the step has.
    const std::string of_step = fmt::format("{:09}", step.count() % kSecond);
    const std::size_t last = of_step.find_last_not_of('0');
    std::size_t keep = last == std::string::npos ? 0 : last + 1;
    if (step == Nanoseconds{1}) {
        keep = text.find_last_not_of('0') - text.find('.');
    }
    text.resize(text.find('.') + (keep == 0 ? 0 : keep + 1));
    return text;
}

std::string stalls_text(const std::vector<Stall>& stalls) {
    if (stalls.empty()) {
        return "asker never stalled";
    }
    std::string text = "asker stalled";
    for (const Stall& stall : stalls) {
        text += fmt::format("{} at {}s for {}s", stall == stalls.front() ? "" : ",",
                            seconds_text(stall.from.time_since_epoch(), Nanoseconds{1}),
                            seconds_text(stall.length, Nanoseconds{1}));
    }
    return text;
}

std::string run_text(const Run& run) {
    std::vector<Table::Column> columns{
        {"FROM s", kRight}, {"OFFERED", kRight}, {"ADMITTED", kRight}, {"REFUSED", kRight}};
    if (is_color_meter(run)) {
        columns.push_back({"YELLOW", kRight});
    }
    if (is_queue(run)) {
        columns.push_back({"LEAVING", kRight});
    }
    Table table{columns};
    for (std::size_t i = 0; i < run.outcome.bars.size(); ++i) {
        const Bar& bar = run.outcome.bars[i];
        const Nanoseconds from = static_cast<std::int64_t>(i) * run.course.bar;
        std::vector<std::string> cells{seconds_text(from, run.course.bar), grouped(bar.offered),
                                       grouped(bar.admitted()), grouped(bar.refused)};
        if (is_color_meter(run)) {
            cells.push_back(grouped(bar.yellow));
        }
        if (is_queue(run)) {
            cells.push_back(grouped(bar.leaving));
        }
        table.row(std::move(cells));
    }
    return table.text() + about(run);
}

std::string comparison_text(const std::vector<Run>& runs) {
    std::vector<Table::Column> columns{{"FROM s", kRight}};
    std::size_t rows = 0;
    for (const Run& run : runs) {
        columns.push_back({run.name, kRight});
        if (is_queue(run)) {
            columns.push_back({"(leaving)", kRight});
        }
        rows = std::max(rows, run.outcome.bars.size());
    }
    Table table{columns};
    for (std::size_t i = 0; i < rows; ++i) {
        const Nanoseconds from = static_cast<std::int64_t>(i) * runs.front().course.bar;
        std::vector<std::string> cells{seconds_text(from, runs.front().course.bar)};
        for (const Run& run : runs) {
            const Bar bar = i < run.outcome.bars.size() ? run.outcome.bars[i] : Bar{};
            cells.push_back(grouped(bar.admitted()));
            if (is_queue(run)) {
                cells.push_back(grouped(bar.leaving));
            }
        }
        table.row(std::move(cells));
    }
    std::string text = stalls_text(runs.front().course.stalls) + "\n" + table.text();
    for (const Run& run : runs) {
        text += about(run);
    }
    return text;
}

namespace {

Json bar_json(const Run& run, const Bar& bar, Nanoseconds from) {
    Json document{{"from_ns", from.count()},
                  {"offered", bar.offered},
                  {"admitted", bar.admitted()},
                  {"refused", bar.refused}};
    if (is_color_meter(run)) {
        document["yellow"] = bar.yellow;
    }
    if (is_queue(run)) {
        document["leaving"] = bar.leaving;
    }
    return document;
}

Json run_json(const Run& run) {
    const Outcome& out = run.outcome;
    Json stalls = Json::array();
    for (const Stall& stall : run.course.stalls) {
        stalls.push_back({{"from_ns", stall.from.time_since_epoch().count()},
                          {"length_ns", stall.length.count()}});
    }
    Json bars = Json::array();
    for (std::size_t i = 0; i < out.bars.size(); ++i) {
        bars.push_back(bar_json(run, out.bars[i], static_cast<std::int64_t>(i) * run.course.bar));
    }
    Json document{{"algorithm", run.name},
                  {"stalls", std::move(stalls)},
                  {"bar_ns", run.course.bar.count()},
                  {"offered", out.total.offered},
                  {"admitted", out.total.admitted()},
                  {"refused", out.total.refused},
                  {"waiting", out.waiting},
                  {"window_ns", run.course.window.count()},
                  {"most_in_window", out.most_in_window},
                  {"last_admitted_ns", nullptr},
                  {"cut", out.cut},
                  {"bars", std::move(bars)}};
    if (out.last_admitted) {
        document["last_admitted_ns"] = out.last_admitted->time_since_epoch().count();
    }
    return document;
}

}  // namespace

Json runs_json(const std::vector<Run>& runs) {
    Json list = Json::array();
    for (const Run& run : runs) {
        list.push_back(run_json(run));
    }
    return Json{{"runs", std::move(list)}};
}

}  // namespace sluice
