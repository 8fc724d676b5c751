#include "control/cli/capture_end.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

namespace sluice {

ExitCode report_end(CaptureReader::Next end, const CaptureReader& reader, const std::string& path) {
    if (end == CaptureReader::Next::Cut) {
        say_warning(
            fmt::format("{}: the last record is cut and left out ({})", path, reader.fault()));
    }
    if (end == CaptureReader::Next::Broken) {
        say_error(fmt::format("{}: {}; the frames before it were read", path, reader.fault()));
        return ExitCode::Refused;
    }
    return ExitCode::Done;
}

}  // namespace sluice
