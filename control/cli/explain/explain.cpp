#include "control/cli/explain/asked_frame.hpp"
#include "control/cli/explain/explain_running.hpp"
#include "control/cli/explain/shown_account.hpp"
#include "control/explain/account_text.hpp"

#include "control/active_json.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/replay/setup.hpp"
#include "control/cli/terminal.hpp"
#include "control/replay/frame_source.hpp"
#include "lib/capture/reader.hpp"
#include "lib/policy/overrides/until_text.hpp"

#include <algorithm>

// explain: why one packet met its verdict. The frames before it in a capture are judged first, so
// that the buckets stand as they stood when it came.
namespace sluice {
namespace {

void show(const PacketAccount& account, const Options& options, std::string_view pair) {
    print(options.json ? dump_line(account_json(account, pair))
                       : shown_account(account.number, account_text(account, pair)));
}

ExitCode explain_captured(const Options& options, const ReplaySetup& setup,
                          const ReplayRules& rules) {
    Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
    if (!reader) {
        return refuse(reader.error().what);
    }
    FrameSource source{*reader};
    WorkerSet workers{setup, rules.loaded};
    for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
        // Numbers of frames that are left out are nobody's.
        const auto asked = std::ranges::find_if(
            frames, [&](const KeptFrame& kept) { return kept.frame().number >= options.frame; });
        if (asked == frames.end()) {
            (void)workers.judge(frames, source.now());
            continue;
        }
        if (asked->frame().number != options.frame) {
            break;
        }
        (void)workers.judge({frames.begin(), asked}, source.now());
        show(account_of(asked->frame(), source.now(), workers, rules, setup.pair), options,
             setup.pair);
        return ExitCode::Done;
    }
    return no_such_frame(options, *reader, source.end());
}

// All questions are of one time where no rule asks for the time of day.
Instant time_of_question(const Options& options, const ReplayRules& rules) {
    if (!options.at.empty()) {
        return Instant{*parse_until(options.at)};
    }
    return Instant{rules.loaded.rules().schedules.empty() ? Nanoseconds{0} : utc_now()};
}

ExitCode explain_described(const Options& options, const ReplaySetup& setup,
                           const ReplayRules& rules) {
    auto asked = asked_frame(options);
    if (const auto* exit = std::get_if<ExitCode>(&asked)) {
        return *exit;
    }
    WorkerSet workers{setup, rules.loaded};
    const Instant at = time_of_question(options, rules);
    workers.follow_dialogue(frames_before(options), at);
    const CapturedFrame& frame = std::get<KeptFrame>(asked).frame();
    show(account_of(frame, at, workers, rules, setup.pair), options, setup.pair);
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
    if (options.rules_files.empty() &&
        (options.enforce || options.workers != 1 || !options.config_file.empty())) {
        return "--enforce, --workers and --config are for rule files";
    }
    if (!options.at.empty() && (captured || options.rules_files.empty())) {
        return "--at is for a described packet under rule files: others have a time of their own";
    }
    if (captured != (options.frame != 0)) {
        return "--frame N, from 1 on, belongs to --pcap";
    }
    return std::nullopt;
}

}  // namespace

ExitCode run_explain(const Options& options) {
    if (const auto wrong = wrong_question(options)) {
        return refuse(*wrong, ExitCode::Usage);
    }
    auto setup = replay_setup(options);
    if (const auto* exit = std::get_if<ExitCode>(&setup)) {
        return *exit;
    }
    if (options.rules_files.empty()) {
        return explain_running(options, std::get<ReplaySetup>(setup));
    }
    const auto read = replay_rules(options, std::get<ReplaySetup>(setup));
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    const auto explain = options.pcap_file.empty() ? explain_described : explain_captured;
    return explain(options, std::get<ReplaySetup>(setup), std::get<ReplayRules>(read));
}

}  // namespace sluice
