#pragma once
#include "control/cli/exit_code.hpp"
#include "lib/capture/reader.hpp"

#include <string>

namespace sluice {

// Says on standard error how reading a capture ended, if not at its end, and how many frames were
// left out because they are not Ethernet's; the command's exit code. A cut last record is only a
// warning, a capture without any Ethernet frame an error.
ExitCode report_end(CaptureReader::Next end, const CaptureReader& reader, const std::string& path);

}  // namespace sluice
