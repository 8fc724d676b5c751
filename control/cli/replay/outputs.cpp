#include "control/cli/replay/outputs.hpp"

#include "control/cli/replay/capture_sink.hpp"
#include "lib/respond/act/act_burst.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

namespace sluice {
namespace {

// The input file that `output` is; empty: none.
std::string input_at(const std::string& output, const Options& options) {
    std::error_code absent;
    std::vector<std::string> inputs = options.rules_files;
    inputs.insert(inputs.end(), {options.pcap_file, options.config_file});
    for (const std::string& input : inputs) {
        if (std::filesystem::equivalent(output, input, absent)) {
            return input;
        }
    }
    return {};
}

template <typename Writer>
Result<Done> create_one(const std::string& path, std::optional<Writer>& into) {
    if (path.empty()) {
        return Done{};
    }
    Result<Writer> writer = Writer::create(path);
    if (!writer) {
        return writer.error();
    }
    into.emplace(*std::move(writer));
    return Done{};
}

}  // namespace

Result<ReplayOutputs> ReplayOutputs::create(const Options& options) {
    for (const std::string& output : {options.out_file, options.verdicts_file}) {
        const std::string lost = input_at(output, options);
        if (!lost.empty()) {
            return Error{Errc::Refused,
                         fmt::format("{} would be overwritten; write to another file", lost)};
        }
    }
    ReplayOutputs outputs;
    const Result<Done> verdicts = create_one(options.verdicts_file, outputs.verdicts_);
    if (!verdicts) {
        return verdicts.error();
    }
    const Result<Done> frames = create_one(options.out_file, outputs.frames_);
    if (!frames) {
        return frames.error();
    }
    return outputs;
}

// The lines before the frames: they show keys as the frames came.
void ReplayOutputs::add(std::span<KeptFrame> frames, std::span<const BurstRow> rows,
                        const LoadedSet& rules, const ReplayedAt& at) {
    const AnswerSink answers = answers_.answer(rows, rules, at.now, at.captured);
    for (std::size_t i = 0; verdicts_ && i < rows.size(); ++i) {
        verdicts_->write(verdict_line(frames[i].frame().number, rows[i], rules, at.pair));
    }
    if (frames_) {
        held_.release(at.captured, *frames_);
        CaptureSink sink{frames, *frames_, held_, at.captured, answers.made()};
        ReplayedFrames burst{rows};
        act_burst(burst, rules.actions, sink);
    }
}

Result<Done> ReplayOutputs::finish() {
    if (verdicts_) {
        const Result<Done> done = verdicts_->finish();
        if (!done) {
            return done;
        }
    }
    if (frames_) {
        held_.release(Instant::max(), *frames_);
    }
    return frames_ ? frames_->finish() : Result<Done>{Done{}};
}

}  // namespace sluice
