#include "control/cli/capture_end.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/heatmap_text.hpp"
#include "control/cli/long_work.hpp"
#include "control/cli/replay/outputs.hpp"
#include "control/cli/replay/setup.hpp"
#include "control/cli/replay/summary.hpp"
#include "control/cli/terminal.hpp"
#include "control/replay/exact_maps.hpp"

#include <fmt/format.h>

#include <optional>

// replay: a capture through the real pipeline.
//
//   FrameSource  -->  WorkerSet (parse, match, key, meter)  -->  ReplayOutputs, ReplaySummary
//   one instant       N cores, one table each                     in the order of the frames
namespace sluice {
namespace {

// The size of frames in a file, with the heads of their records.
std::uint64_t recorded_bytes(std::span<KeptFrame> frames) {
    constexpr std::uint64_t kRecordHead = 16;
    std::uint64_t bytes = 0;
    for (const KeptFrame& one : frames) {
        bytes += one.frame().bytes.size() + kRecordHead;
    }
    return bytes;
}

// Outputs of the frames beside the summary.
struct BesideSummary {
    ReplayOutputs& outputs;
    ExactMaps* maps;  // nullptr: none are asked for
    LongWork& work;
};

ReplaySummary judge_all(FrameSource& source, const ReplaySetup& setup, const ReplayRules& rules,
                        const BesideSummary& beside) {
    ReplayOutputs& outputs = beside.outputs;
    WorkerSet workers{setup, rules.loaded};
    workers.know_answered(outputs.answered());
    if (beside.maps != nullptr) {
        workers.watch_keys(beside.maps->tables());
    }
    ReplaySummary summary;
    summary.services = {rules.services, rules.loaded.set().services};
    for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
        beside.work.add(recorded_bytes(frames));
        if (beside.maps != nullptr) {
            beside.maps->reach(workers.time_of(source.now()).utc());
        }
        const std::vector<BurstRow>& rows = workers.judge(frames, source.now());
        outputs.add(frames, rows, rules.loaded.set(),
                    {setup.pair, workers.time_of(source.now()).at, source.now()});
        for (const BurstRow& row : rows) {
            summary.count(row.decision());
            if (row.headers().dir == Direction::Out) {
                summary.services.count_from_inside();
            }
            if (const auto outcome =
                    service_outcome(*row.burst, row.row, rules.loaded.set().services)) {
                summary.services.count(*outcome);
            }
        }
    }
    summary.collect(rules, workers);
    return summary;
}

// The maps for people.
std::string maps_text(const Json& maps) {
    std::string text;
    for (const Json& map : maps) {
        text += "\n" + heatmap_text(map, "", heatmap_columns(terminal_width()));
    }
    return text.empty() ? "\nno packet met a limit: there is no heat map\n" : text;
}

void show(const ReplaySummary& summary, const ExactMaps* maps, bool json) {
    if (summary.table_full != 0) {
        say_warning(
            fmt::format("the table was full {} times; on_full decided there", summary.table_full));
    }
    if (summary.clock_stopped) {
        say_warning(
            "the capture is longer than the years that limits can count; their clock stood still "
            "from then on");
    }
    for (const std::string& warning : summary.services.without_servers()) {
        say_warning(warning);
    }
    if (maps != nullptr && !maps->is_exact()) {
        say_warning(
            "the capture has more keys in a second than the heat maps hold: they are about");
    }
    if (!json) {
        print(summary_text(summary) + (maps == nullptr ? "" : maps_text(maps->json())));
        return;
    }
    Json document = summary_json(summary);
    if (maps != nullptr) {
        document["heatmaps"] = maps->json();
    }
    print(dump_line(document));
}

}  // namespace

ExitCode run_replay(const Options& options) {
    auto setup = replay_setup(options);
    if (const auto* exit = std::get_if<ExitCode>(&setup)) {
        return *exit;
    }
    const auto read = replay_rules(options, std::get<ReplaySetup>(setup));
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    const auto& rules = std::get<ReplayRules>(read);
    Result<CaptureReader> reader = CaptureReader::open(options.pcap_file);
    if (!reader) {
        return refuse(reader.error().what);
    }
    Result<ReplayOutputs> outputs = ReplayOutputs::create(options);
    if (!outputs) {
        return refuse(outputs.error().what);
    }
    FrameSource source{*reader};
    std::optional<ExactMaps> maps;
    if (options.heatmap) {
        maps.emplace(rules, std::get<ReplaySetup>(setup).workers);
    }
    ExactMaps* const drawn_maps = maps ? &*maps : nullptr;
    ReplaySummary summary = [&] {
        LongWork work{"replay", capture_size(options.pcap_file)};
        return judge_all(source, std::get<ReplaySetup>(setup), rules, {*outputs, drawn_maps, work});
    }();
    if (maps) {
        maps->finish();
    }
    summary.not_ethernet = reader->left_out().total();
    const Result<Done> written = outputs->finish();
    if (!written) {
        return refuse(written.error().what);
    }
    const ExitCode end = report_end(source.end(), *reader, options.pcap_file);
    if (end == ExitCode::Done) {
        show(summary, drawn_maps, options.json);
    }
    return end;
}

}  // namespace sluice
