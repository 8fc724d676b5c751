#include "control/daemon/api/simulated_ask.hpp"

#include "control/daemon/api/api.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/simulation/course_words.hpp"
#include "control/simulation/load_words.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

struct RunMember {
    const char* name;
    std::string RunWords::* word;
};
constexpr auto kRunTexts = std::to_array<RunMember>({{"load", &RunWords::load},
                                                     {"backlog", &RunWords::backlog},
                                                     {"ask_every", &RunWords::ask_every},
                                                     {"offer", &RunWords::offer},
                                                     {"size", &RunWords::size},
                                                     {"every", &RunWords::every},
                                                     {"on", &RunWords::on},
                                                     {"off", &RunWords::off},
                                                     {"edge_at", &RunWords::edge_at},
                                                     {"apart", &RunWords::apart},
                                                     {"seed", &RunWords::seed},
                                                     {"cost", &RunWords::cost},
                                                     {"duration", &RunWords::duration},
                                                     {"start", &RunWords::start}});

struct RunList {
    const char* name;
    std::vector<std::string> RunWords::* words;
    std::size_t most;
};
constexpr auto kRunLists = std::to_array<RunList>(
    {{"hits", &RunWords::hits, kMostHits}, {"stalls", &RunWords::stalls, kMostSimulatedStalls}});

constexpr std::size_t kLongestWord = 64;  // bytes

std::optional<HttpResponse> read_text(const Json& run, const RunMember& member, RunWords& words) {
    const auto found = run.find(member.name);
    if (found == run.end()) {
        return std::nullopt;
    }
    if (!found->is_string() || found->get_ref<const std::string&>().size() > kLongestWord) {
        return bad_request(
            fmt::format("`{}` of `run` is a text of at most {} bytes", member.name, kLongestWord));
    }
    words.*member.word = found->get<std::string>();
    return std::nullopt;
}

std::optional<HttpResponse> read_texts(const Json& run, const RunList& member, RunWords& words) {
    const auto found = run.find(member.name);
    if (found == run.end()) {
        return std::nullopt;
    }
    const auto fits = [](const Json& one) {
        return one.is_string() && one.get_ref<const std::string&>().size() <= kLongestWord;
    };
    if (!found->is_array() || found->size() > member.most ||
        !std::all_of(found->begin(), found->end(), fits)) {
        return bad_request(fmt::format("`{}` of `run` is a list of at most {} texts, such as 4s:1s",
                                       member.name, member.most));
    }
    words.*member.words = found->get<std::vector<std::string>>();
    return std::nullopt;
}

std::optional<HttpResponse> read_words(const Json& run, RunWords& words) {
    if (auto refusal = refuse_unknown(
            run, {"load", "backlog", "ask_every", "offer", "size", "every", "on", "off", "edge_at",
                  "apart", "seed", "cost", "duration", "start", "hits", "stalls"})) {
        return refusal;
    }
    for (const RunMember& member : kRunTexts) {
        if (auto refusal = read_text(run, member, words)) {
            return refusal;
        }
    }
    for (const RunList& member : kRunLists) {
        if (auto refusal = read_texts(run, member, words)) {
            return refusal;
        }
    }
    return std::nullopt;
}

// Bars of a usual length for a run of this one, of which there are few enough.
std::string usual_bar(const std::string& duration, const std::string& otherwise) {
    constexpr std::int64_t kBars = 2000;
    const Result<Nanoseconds> length = parse_duration(duration);
    if (!length || *length / kBars <= std::chrono::milliseconds{100}) {
        return otherwise;
    }
    constexpr auto kLengths =
        std::to_array<std::pair<std::int64_t, const char*>>({{1, "1s"}, {60, "1m"}, {3600, "1h"}});
    for (const auto& [seconds, text] : kLengths) {
        if (*length / kBars <= std::chrono::seconds{seconds}) {
            return text;
        }
    }
    return "1d";
}

SimulationProblems about_run(const Error& error) {
    return {{{"run", {}, Severity::Error, error.what}}};
}

// Algorithms that nothing here can draw: what connections do, and what packets show.
void refuse_undrawn(const std::vector<LoneLimit>& limits, std::vector<Problem>& problems) {
    for (const LoneLimit& limit : limits) {
        const Algorithm algorithm = algorithm_of(limit.numbers);
        if (algorithm == Algorithm::Concurrency || algorithm == Algorithm::Distinct) {
            problems.push_back({"limits", limit.at, Severity::Error,
                                "a " + limit.algorithm +
                                    " limit is not simulated: it counts open connections or "
                                    "different values, and a load has neither"});
        }
    }
}

ReadAsk understand(const std::string& limits, RunWords words) {
    LoneLimits read = read_lone_limits(limits, kMostSimulatedLimits);
    if (read.limits) {
        refuse_undrawn(*read.limits, read.problems);
    }
    const bool is_wrong = std::ranges::any_of(
        read.problems, [](const Problem& one) { return one.severity == Severity::Error; });
    if (!read.limits || is_wrong) {
        return SimulationProblems{std::move(read.problems)};
    }
    words.bar = usual_bar(words.duration, words.bar);
    Result<Course> course = read_run(words, Spelling::Member);
    if (!course) {
        return about_run(course.error());
    }
    return SimulatedAsk{*std::move(read.limits), std::move(read.problems), std::move(words),
                        *std::move(course)};
}

}  // namespace

ReadAsk read_simulated_ask(const Json& body) {
    if (!body.is_object() || !body.contains("limits") || !body["limits"].is_string() ||
        !body.contains("run") || !body["run"].is_object()) {
        return bad_request(
            R"(the body is {"limits":"- {algorithm: …}","run":{"load":"constant",…}})");
    }
    if (auto refusal = refuse_unknown(body, {"limits", "run"})) {
        return *std::move(refusal);
    }
    const std::string limits = body["limits"];
    if (limits.size() > kMostLimitText) {
        return bad_request(fmt::format("`limits` has at most {} bytes", kMostLimitText));
    }
    RunWords words;
    if (auto refusal = read_words(body["run"], words)) {
        return *std::move(refusal);
    }
    return understand(limits, std::move(words));
}

}  // namespace sluice
