#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/replay/worker_set.hpp"
#include "lib/capture/reader.hpp"

#include <variant>
#include <vector>

namespace sluice {

// The packet to explain, by itself: frame N of a capture, or the one that is described.
// Errors are on standard error.
[[nodiscard]] std::variant<KeptFrame, ExitCode> asked_frame(const Options& options);
// The handshake of the connection that the described packet carries data of; empty: it carries
// none.
[[nodiscard]] std::vector<DialogueFrame> frames_before(const Options& options);

// Says that the capture has no such frame, which has been read up to its end.
[[nodiscard]] ExitCode no_such_frame(const Options& options, const CaptureReader& reader,
                                     CaptureReader::Next end);

}  // namespace sluice
