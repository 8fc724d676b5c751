#include "control/cli/commands.hpp"
#include "control/cli/simulate/comparison.hpp"
#include "control/cli/simulate/course_words.hpp"
#include "control/cli/simulate/limit_words.hpp"
#include "control/cli/simulate/plot.hpp"
#include "control/cli/terminal.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <variant>

// simulate: one bucket under one load on a virtual clock.
//
//   limit_words, load, course_words  -->  engine  -->  report (table, JSON), plot (gnuplot)
namespace sluice {
namespace {

// Numbers that do not fit were understood; anything else was not.
ExitCode fail(const Error& error) {
    say_error(error.what);
    return error.code == Errc::BadSyntax ? ExitCode::Usage : ExitCode::Refused;
}

// gnuplot draws to standard output where it cannot open a file.
Result<Done> can_write(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "ab"),
                                                               std::fclose};
    return file != nullptr
               ? Result<Done>{Done{}}
               : Error{Errc::Refused, "cannot write " + path + ": " + std::strerror(errno)};
}

// In the order of Per.
constexpr auto kPerWords = std::to_array<std::string_view>({"packet", "byte", "connection"});

struct SimulatedAsk {
    std::vector<SimulatedLimit> limits;
    std::vector<Course> courses;
    Per per = Per::Packet;
};

Result<SimulatedAsk> read(const SimulateOptions& options) {
    SimulatedAsk asked;
    const auto* const per = std::find(kPerWords.begin(), kPerWords.end(), options.per);
    if (per == kPerWords.end()) {
        return Error{Errc::BadSyntax, "--per is one of " + list_of(kPerWords)};
    }
    asked.per = static_cast<Per>(per - kPerWords.begin());
    const Result<Course> course = read_course(options);
    if (!course) {
        return course.error();
    }
    if (options.compare) {
        Result<std::vector<SimulatedLimit>> limits = compared_limits(options, asked.per);
        if (!limits) {
            return limits.error();
        }
        asked.limits = *std::move(limits);
        asked.courses = compared_courses(*course);
        return asked;
    }
    const Result<AnyLimit> limit = read_limit_words(options.algorithm, options.limit, asked.per);
    if (!limit) {
        return limit.error();
    }
    asked.limits = {{options.algorithm, *limit}};
    asked.courses = {*course};
    return asked;
}

// By course, then by limit. Every run has a load of its own: all see the same.
std::variant<std::vector<Run>, ExitCode> run_all(const SimulatedAsk& asked,
                                                 const Options& options) {
    std::vector<Run> runs;
    for (const Course& course : asked.courses) {
        for (const SimulatedLimit& limit : asked.limits) {
            const Result<AskedLoad> load =
                make_load(options.simulate, options.pcap_file, asked.per);
            if (!load) {
                return fail(load.error());
            }
            runs.push_back({limit.name, limit.limit, course, simulate(limit.limit, *load, course)});
            const ExitCode end = load->finish();
            if (end != ExitCode::Done) {
                return end;
            }
        }
    }
    return runs;
}

std::string text_of(const std::vector<Run>& runs, const SimulatedAsk& asked) {
    if (runs.size() == 1) {
        return run_text(runs.front());
    }
    std::string text;
    const auto width = static_cast<std::ptrdiff_t>(asked.limits.size());
    for (auto from = runs.begin(); from != runs.end(); from += width) {
        text += (text.empty() ? "" : "\n") + comparison_text({from, from + width});
    }
    return text;
}

// Courses beside each other, limits below each other.
std::vector<Run> by_limit(const std::vector<Run>& runs, const SimulatedAsk& asked) {
    std::vector<Run> sorted;
    for (std::size_t limit = 0; limit < asked.limits.size(); ++limit) {
        for (std::size_t course = 0; course < asked.courses.size(); ++course) {
            sorted.push_back(runs[course * asked.limits.size() + limit]);
        }
    }
    return sorted;
}

}  // namespace

ExitCode run_simulate(const Options& options) {
    const Result<SimulatedAsk> asked = read(options.simulate);
    if (!asked) {
        return fail(asked.error());
    }
    const auto done = run_all(*asked, options);
    if (const auto* exit = std::get_if<ExitCode>(&done)) {
        return *exit;
    }
    const auto& runs = std::get<std::vector<Run>>(done);
    if (!options.simulate.svg_file.empty()) {
        if (const Result<Done> can = can_write(options.simulate.svg_file); !can) {
            return fail(can.error());
        }
        const Result<Done> drawn = draw_plot(
            plot_script(by_limit(runs, *asked), asked->courses.size(), options.simulate.svg_file));
        if (!drawn) {
            return fail(drawn.error());
        }
    }
    print(options.json ? dump_line(runs_json(runs)) : text_of(runs, *asked));
    return ExitCode::Done;
}

}  // namespace sluice
