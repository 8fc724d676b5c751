#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/cli/replay/frame_source.hpp"

#include <variant>
#include <vector>

namespace sluice {

// The packet to explain, by itself: frame N of a capture, or the one that is described.
// Errors are on standard error.
[[nodiscard]] std::variant<KeptFrame, ExitCode> asked_frame(const Options& options);
// Frames that a client sends before the one that is described: the SYN of its connection, where it
// carries data.
[[nodiscard]] std::vector<KeptFrame> frames_before(const Options& options);

// Says that the capture has no such frame, which has been read up to its end.
[[nodiscard]] ExitCode no_such_frame(const Options& options, const CaptureReader& reader,
                                     CaptureReader::Next end);

}  // namespace sluice
