#pragma once
#include "control/cli/options.hpp"
#include "control/cli/replay/frame_source.hpp"
#include "control/cli/replay/verdict_writer.hpp"
#include "lib/capture/writer.hpp"

#include <optional>
#include <string>

namespace sluice {

// The files that a replay writes, if any.
class ReplayOutputs {
public:
    // An Error also when a file to write is one that is read.
    [[nodiscard]] static Result<ReplayOutputs> create(const Options& options);

    // Notes what became of a frame. Rewrites the frame as it would have left the box.
    void add(KeptFrame& kept, const Packet& packet, const LoadedSet& rules, std::string_view pair);
    [[nodiscard]] Result<Done> finish();

private:
    std::optional<CaptureWriter> frames_;
    std::optional<VerdictWriter> verdicts_;
};

}  // namespace sluice
