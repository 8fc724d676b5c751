#pragma once
#include "control/cli/options.hpp"
#include "control/cli/replay/held_records.hpp"
#include "control/cli/replay/verdict_writer.hpp"
#include "control/replay/kept_frame.hpp"
#include "control/replay/replay_answers.hpp"
#include "lib/capture/writer.hpp"
#include "lib/rules/rule_set.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace sluice {

// The place and time at which a burst of a replay was judged.
struct ReplayedAt {
    std::string_view pair;
    Instant now;       // of the box
    Instant captured;  // of the capture
};

// The files that a replay writes, if any.
class ReplayOutputs {
public:
    // An Error also when a file to write is one that is read.
    [[nodiscard]] static Result<ReplayOutputs> create(const Options& options);

    // Answers frames of one instant, each with its row, as the box would, and notes what became of
    // them. Rewrites them as they would have left the box; those that are held are written among
    // the later ones, at their departures.
    void add(std::span<KeptFrame> frames, std::span<const BurstRow> rows, const LoadedSet& rules,
             const ReplayedAt& at);
    [[nodiscard]] Result<Done> finish();
    // Connections that it has answered, which no rule judges from then on.
    [[nodiscard]] AnsweredTraffic& answered() const noexcept { return answers_.answered(); }

private:
    ReplayAnswers answers_;
    std::optional<CaptureWriter> frames_;
    std::optional<VerdictWriter> verdicts_;
    HeldRecords held_;
};

}  // namespace sluice
