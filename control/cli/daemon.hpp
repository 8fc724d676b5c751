#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/http_client.hpp"
#include "control/cli/options.hpp"
#include "control/json.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace sluice {

// For calls that compile a whole set: one with lists of millions is built first.
inline constexpr std::chrono::minutes kCompilePatience{2};

// A refusal by sluiced, as its problem document says (RFC 9457).
struct DaemonRefusal {
    ExitCode exit = ExitCode::Refused;
    std::string what;               // title and detail, for a person
    std::vector<Problem> problems;  // of a rule file
    // Other rules run than when the question was put: put again, it may be answered.
    bool others_run = false;
    long status = 0;  // of HTTP; 0: there was no answer
};

[[nodiscard]] DaemonPlace place_of(const Options& options);

// One call of sluiced's API: its JSON answer, or why there is none.
[[nodiscard]] std::variant<Json, DaemonRefusal> ask(const Options& options,
                                                    const DaemonRequest& request);

// A list that sluiced tells page by page: its resource with `?`, or a query that goes on behind
// `&`, and the member that holds its rows.
struct PagedList {
    std::string target;
    const char* rows;
};
// Pages from `after` on, until there are as many rows as are wanted or no more, as if it were one.
// The list begins anew when rules change meanwhile, some times.
[[nodiscard]] std::variant<Json, DaemonRefusal> ask_pages(const Options& options,
                                                          const PagedList& list, std::string after,
                                                          std::uint64_t most = UINT64_MAX);

// Says the refusal on standard error; the exit code of the command.
ExitCode report(const DaemonRefusal& refusal);

// One call, and its answer on standard output: with --json as it came, else as `as_text` puts it.
ExitCode show(const Options& options, const DaemonRequest& request,
              const std::function<std::string(const Json&)>& as_text);

ExitCode show_answer(const Options& options, const std::variant<Json, DaemonRefusal>& answer,
                     const std::function<std::string(const Json&)>& as_text);

// `body` null: none.
[[nodiscard]] DaemonRequest post_json(std::string target, const Json& body);

}  // namespace sluice
