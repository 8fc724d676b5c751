#include "control/cli/explain/account_text.hpp"
#include "control/cli/explain/described_frame.hpp"
#include "control/cli/explain/explain_running.hpp"

#include "control/cli/capture_end.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/replay/setup.hpp"
#include "control/cli/terminal.hpp"
#include "lib/capture/reader.hpp"

// explain: why one packet met its verdict. The frames before it in a capture are judged first, so
// that the buckets stand as they stood when it came.
namespace sluice {
namespace {

ExitCode fail(const Error& error, ExitCode exit = ExitCode::Refused) {
    say_error(error.what);
    return exit;
}

void show(const PacketAccount& account, const Options& options, std::string_view pair) {
    print(options.json ? dump_line(account_json(account, pair)) : account_text(account, pair));
}

ExitCode explain_captured(const Options& options, const ReplaySetup& setup,
                          const CompiledRules& compiled) {
    Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
    if (!reader) {
        return fail(reader.error());
    }
    FrameSource source{*reader};
    WorkerSet workers{setup, compiled.set};
    for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
        const std::uint64_t first = frames.front().frame().number;
        if (options.frame >= first + frames.size()) {
            (void)workers.judge(frames, source.now());
            continue;
        }
        const std::size_t before = options.frame - first;
        (void)workers.judge(frames.first(before), source.now());
        show(account_of(frames[before], source.now(), workers, compiled, setup.pair), options,
             setup.pair);
        return ExitCode::Done;
    }
    const ExitCode end = report_end(source.end(), *reader, options.pcap_file);
    say_error(options.pcap_file + " has no frame " + std::to_string(options.frame));
    return end == ExitCode::Done ? ExitCode::Refused : end;
}

ExitCode explain_described(const Options& options, const ReplaySetup& setup,
                           const CompiledRules& compiled) {
    const Result<std::vector<std::byte>> bytes = described_frame(options.packet);
    if (!bytes) {
        return fail(bytes.error(), ExitCode::Usage);
    }
    WorkerSet workers{setup, compiled.set};
    KeptFrame frame;
    frame.keep(
        {.number = 1, .bytes = *bytes, .wire_size = static_cast<std::uint32_t>(bytes->size())});
    show(account_of(frame, Instant{}, workers, compiled, setup.pair), options, setup.pair);
    return ExitCode::Done;
}

// Either a frame of a capture, or a description; nullopt: it is one of them.
std::optional<std::string> wrong_question(const Options& options) {
    const bool captured = !options.pcap_file.empty();
    const bool described = options.packet != PacketWords{};
    if (captured == described) {
        return captured ? "--pcap and a described packet exclude each other"
                        : "say which packet: --pcap FILE --frame N, or --src A --dst B ...";
    }
    if (captured && options.rules_file.empty()) {
        return "a capture is judged by a rule file; of the running box, describe a packet";
    }
    if (options.rules_file.empty() && (options.enforce || options.workers != 1)) {
        return "--enforce and --workers are for rule files";
    }
    if (captured != (options.frame != 0)) {
        return "--frame N, from 1 on, belongs to --pcap";
    }
    return std::nullopt;
}

}  // namespace

ExitCode run_explain(const Options& options) {
    if (const auto wrong = wrong_question(options)) {
        say_error(*wrong);
        return ExitCode::Usage;
    }
    const auto setup = replay_setup(options);
    if (const auto* exit = std::get_if<ExitCode>(&setup)) {
        return *exit;
    }
    if (options.rules_file.empty()) {
        return explain_running(options, std::get<ReplaySetup>(setup));
    }
    std::optional<CompiledRules> compiled = replay_rules(options, std::get<ReplaySetup>(setup));
    if (!compiled) {
        return ExitCode::Refused;
    }
    const auto explain = options.pcap_file.empty() ? explain_described : explain_captured;
    return explain(options, std::get<ReplaySetup>(setup), *compiled);
}

}  // namespace sluice
