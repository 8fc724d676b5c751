#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/json.hpp"
#include "control/preview/draft_rules.hpp"
#include "control/preview/preview_answer.hpp"
#include "control/preview/preview_log.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/message.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sluice {

// A preview to run: the draft, ready to be judged, and the trace that shows its packets.
struct PreviewTerms {
    DraftRules draft;
    TraceBegun begun;
    std::chrono::milliseconds lasts{20'000};
};

// Why there is no more to come of a preview whose read the dataplane answered so. nullopt: there
// is, by this answer or, where another call holds the dataplane, by the next.
[[nodiscard]] std::optional<std::string> why_over(const Result<Reply>& reply);

// One preview, from its beginning at the dataplane to its answer. run() is called once, in a thread
// of its own; everything else from any.
class PreviewRun {
public:
    static constexpr std::chrono::seconds kUnread{10};
    static constexpr std::chrono::milliseconds kReadEvery{100};

    enum class State : std::uint8_t { Watching, Judging, Done, Ended };

    PreviewRun(PreviewTerms terms, DataplaneLink& link);

    // Until the answer is there, or the preview ends without one: it is stopped, nobody reads it,
    // or there is no dataplane any more.
    void run(const std::stop_token& stop);
    // Ends it; `why` for who reads it afterwards.
    void end(std::string why);

    // The preview as GET /v1/previews/ID tells of it, behind its name: what there is, after so long
    // at most if it is under way.
    struct View {
        State state = State::Watching;
        std::string why;  // it has ended
        Json json;
    };
    [[nodiscard]] View read(std::chrono::seconds wait);

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool watch(const std::stop_token& stop);
    // False: there is no more to come.
    [[nodiscard]] bool gather();
    void judge_all(const std::stop_token& stop);
    void stop_trace();
    [[nodiscard]] double lasted(Clock::time_point now) const;

    DraftRules draft_;
    TraceBegun begun_;
    std::chrono::milliseconds lasts_;
    DataplaneLink& link_;
    std::int64_t from_;  // UTC, ns
    Clock::time_point began_ = Clock::now();
    PreviewLog log_;      // run()'s
    PreviewFacts facts_;  // likewise
    std::uint64_t generation_ = 0;
    bool is_read_ = false;  // the last call was answered

    std::mutex mutex_;
    std::condition_variable_any changed_;
    State state_ = State::Watching;
    std::string why_;
    Clock::time_point read_at_ = Clock::now();
    std::uint64_t matched_ = 0;
    std::uint8_t bits_ = 0;
    Json result_;
};

}  // namespace sluice
