#include "control/cli/explain/asked_frame.hpp"

#include "control/cli/capture_end.hpp"
#include "control/cli/explain/described_frame.hpp"
#include "control/cli/terminal.hpp"
#include "control/replay/frame_source.hpp"

namespace sluice {
namespace {

KeptFrame kept_frame(const std::vector<std::byte>& bytes) {
    KeptFrame frame;
    frame.keep(
        {.number = 1, .bytes = bytes, .wire_size = static_cast<std::uint32_t>(bytes.size())});
    return frame;
}

std::variant<KeptFrame, ExitCode> captured_frame(const Options& options) {
    Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
    if (!reader) {
        return refuse(reader.error().what);
    }
    FrameSource source{*reader};
    for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
        const std::uint64_t first = frames.front().frame().number;
        if (options.frame < first + frames.size()) {
            KeptFrame found;
            found.keep(frames[options.frame - first].frame());
            return found;
        }
    }
    return no_such_frame(options, *reader, source.end());
}

}  // namespace

std::variant<KeptFrame, ExitCode> asked_frame(const Options& options) {
    if (!options.pcap_file.empty()) {
        return captured_frame(options);
    }
    const Result<std::vector<std::byte>> bytes = described_frame(options.packet);
    if (!bytes) {
        return refuse(bytes.error().what, ExitCode::Usage);
    }
    return kept_frame(*bytes);
}

std::vector<DialogueFrame> frames_before(const Options& options) {
    std::vector<DialogueFrame> frames;
    if (const auto handshake = handshake_before(options.packet)) {
        for (const PacketWords& words : *handshake) {
            if (const auto bytes = described_frame(words)) {
                const bool is_answer = words.src != options.packet.src;
                frames.push_back({.frame = kept_frame(*bytes), .is_answer = is_answer});
            }
        }
    }
    return frames;
}

ExitCode no_such_frame(const Options& options, const CaptureReader& reader,
                       CaptureReader::Next end) {
    const ExitCode exit = report_end(end, reader, options.pcap_file);
    say_error(options.pcap_file + " has no frame " + std::to_string(options.frame));
    return exit == ExitCode::Done ? ExitCode::Refused : exit;
}

}  // namespace sluice
