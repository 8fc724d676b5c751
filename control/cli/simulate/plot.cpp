#include "control/cli/simulate/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kBlue = "#2a78b8";
constexpr std::string_view kGreen = "#3a9a4a";
constexpr std::string_view kYellow = "#e0a800";
constexpr std::string_view kRed = "#c03020";
constexpr int kChartWidth = 640;
constexpr int kChartHeight = 210;

// In gnuplot's single quotes only a single quote is special, and is doubled.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c;
        if (c == '\'') {
            out += c;
        }
    }
    return out + "'";
}

double seconds(Nanoseconds time) {
    return static_cast<double>(time.count()) / 1e9;
}

// Middle of the bar, admitted, green, leaving. A bar without anything is not drawn.
std::string data_block(std::size_t number, const Run& run) {
    std::string rows;
    for (std::size_t i = 0; i < run.outcome.bars.size(); ++i) {
        const Bar& bar = run.outcome.bars[i];
        const double middle = (static_cast<double>(i) + 0.5) * seconds(run.course.bar);
        if (bar.admitted() + bar.leaving != 0) {
            rows +=
                fmt::format("{:.9g} {} {} {}\n", middle, bar.admitted(), bar.green, bar.leaving);
        }
    }
    return fmt::format("$run{} << EOD\n{}EOD\n", number, rows.empty() ? "0 0 0 0\n" : rows);
}

std::string stall_shades(const Run& run) {
    std::string out = "unset object\n";
    int number = 0;
    for (const Stall& stall : run.course.stalls) {
        out += fmt::format(
            "set object {} rectangle from {}, graph 0 to {}, graph 1 fillcolor '#dddddd' "
            "fillstyle solid noborder behind\n",
            ++number, seconds(stall.from.time_since_epoch()),
            seconds(stall.end().time_since_epoch()));
    }
    return out;
}

std::string chart(std::size_t number, const Run& run) {
    const bool colors = is_color_meter(run);
    std::string out = stall_shades(run);
    out += fmt::format("set title {}\n", quoted(run.name + ", " + stalls_text(run.course.stalls)));
    out += fmt::format("plot $run{} using 1:2 with boxes linecolor '{}' title '{}'", number,
                       colors ? kYellow : kBlue, colors ? "yellow" : "admitted");
    if (colors) {
        out += fmt::format(", $run{} using 1:3 with boxes linecolor '{}' title 'green'", number,
                           kGreen);
    }
    if (is_queue(run)) {
        out += fmt::format(", $run{} using 1:4 with histeps linecolor '{}' title 'leaving'", number,
                           kRed);
    }
    return out + "\n";
}

bool is_installed(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::istringstream folders{path == nullptr ? "" : path};
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (access(folder.append("/").append(program).c_str(), X_OK) == 0) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string plot_script(const std::vector<Run>& runs, std::size_t columns,
                        const std::string& file) {
    const std::size_t rows = (runs.size() + columns - 1) / columns;
    const Nanoseconds bar = runs.front().course.bar;
    std::size_t bars = 1;
    for (const Run& run : runs) {
        bars = std::max(bars, run.outcome.bars.size());
    }
    std::string out = fmt::format(
        "set terminal svg size {},{} noenhanced background '#ffffff' font 'sans-serif,11'\n"
        "set output {}\nset style fill solid\nset boxwidth {}\nset key outside right\n"
        "set xlabel 'seconds'\nset ylabel 'units per {} s'\n"
        "set xrange [0:{}]\nset yrange [0:*]\n",
        kChartWidth * columns, kChartHeight * rows, quoted(file), seconds(bar),
        seconds_text(bar, Nanoseconds{1}), static_cast<double>(bars) * seconds(bar));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        out += data_block(i, runs[i]);
    }
    out += fmt::format("set multiplot layout {},{}\n", rows, columns);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        out += chart(i, runs[i]);
    }
    return out + "unset multiplot\nunset output\n";
}

Result<Done> draw_plot(const std::string& script) {
    if (!is_installed("gnuplot")) {
        return Error{Errc::NotSupported,
                     "plots are drawn by gnuplot, which is not installed: "
                     "apt-get install gnuplot-nox"};
    }
    std::signal(SIGPIPE, SIG_IGN);  // a gnuplot that gives up early is seen by its exit code
    std::FILE* pipe = popen("exec gnuplot", "w");
    if (pipe == nullptr) {
        return Error{Errc::Refused, "cannot start gnuplot"};
    }
    const bool written = std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
    const int status = pclose(pipe);
    if (!written || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return Error{Errc::Refused, "gnuplot could not draw the plot; its own words stand above"};
    }
    return Done{};
}

}  // namespace sluice
