#include "control/cli/capture_end.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

namespace sluice {

namespace {

// "3 on LINUX_SLL, 1 on RAW"
std::string by_link_type(const LeftOut& left_out) {
    std::string text;
    for (const auto& [link_type, count] : left_out.by_link_type) {
        text +=
            (text.empty() ? "" : ", ") + std::to_string(count) + " on " + link_type_name(link_type);
    }
    return text;
}

}  // namespace

ExitCode report_end(CaptureReader::Next end, const CaptureReader& reader, const std::string& path) {
    if (end == CaptureReader::Next::NotEthernet) {
        return refuse(
            fmt::format("{} holds no Ethernet frame ({}); capture on an Ethernet interface", path,
                        by_link_type(reader.left_out())));
    }
    if (reader.left_out().total() != 0) {
        say_warning(fmt::format("{}: {} frames that are not Ethernet's are left out ({})", path,
                                reader.left_out().total(), by_link_type(reader.left_out())));
    }
    if (end == CaptureReader::Next::Cut) {
        say_warning(
            fmt::format("{}: the last record is cut and left out ({})", path, reader.fault()));
    }
    if (end == CaptureReader::Next::Broken) {
        return refuse(fmt::format("{}: {}; the frames before it were read", path, reader.fault()));
    }
    return ExitCode::Done;
}

}  // namespace sluice
