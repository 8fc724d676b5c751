#include "control/cli/commands.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/trace/traced_text.hpp"
#include "control/cli/trace/tracing.hpp"
#include "lib/capture/pcapng_writer.hpp"

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <optional>
#include <vector>

namespace sluice {
namespace {

unsigned nibble(char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

std::vector<std::byte> bytes_of_hex(const std::string& text) {
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<std::byte>(nibble(text[i]) << 4 | nibble(text[i + 1])));
    }
    return bytes;
}

void write_packet(const Json& packet, PcapngWriter& writer) {
    const std::vector<std::byte> bytes = bytes_of_hex(packet.value("frame", ""));
    const Nanoseconds at{packet.at("utc_ns").get<std::int64_t>()};
    writer.write({.timestamp = Instant{at},
                  .bytes = bytes,
                  .wire_size = packet.at("bytes").get<std::uint32_t>()},
                 traced_comment(packet));
}

bool say_if_failed(const Result<Done>& done) {
    if (!done) {
        say_error(done.error().what);
    }
    return static_cast<bool>(done);
}

// To standard error, so that `-w -` stays a capture; a document with --json and a file.
void report_capture(const Options& options, const TraceEnd& end) {
    if (options.json && options.out_file != "-") {
        print(dump_line(
            {{"file", options.out_file}, {"packets", end.shown}, {"left_out", end.left_out}}));
        return;
    }
    std::fprintf(stderr, "%s captured, %llu left out\n", counted(end.shown, "packet").c_str(),
                 static_cast<unsigned long long>(end.left_out));
}

}  // namespace

// The file is made with the first answer of sluiced: what cannot be traced leaves an old one alone.
ExitCode run_capture(const Options& options) {
    if (options.out_file == "-" && ::isatty(STDOUT_FILENO) == 1) {
        return refuse("a capture is no text: give -w FILE, or pipe it", ExitCode::Usage);
    }
    std::optional<PcapngWriter> writer;
    const auto open = [&] {
        if (!writer) {
            Result<PcapngWriter> made =
                PcapngWriter::create(options.out_file, "sluicectl " SLUICE_VERSION);
            if (!made) {
                say_error(made.error().what);
                return false;
            }
            writer.emplace(*std::move(made));
        }
        return true;
    };
    const TraceSink sink{.take =
                             [&](const Json& packet) {
                                 const bool is_open = open();
                                 if (is_open) {
                                     write_packet(packet, *writer);
                                 }
                                 return is_open;
                             },
                         .flush = [&] { return open() && say_if_failed(writer->flush()); }};
    TraceEnd end = follow_trace(options, options.dropped, options.snap, sink);
    if (writer) {
        const bool whole = say_if_failed(writer->finish());
        end.exit = whole ? end.exit : ExitCode::Refused;
        report_capture(options, end);
    }
    return end.exit;
}

}  // namespace sluice
