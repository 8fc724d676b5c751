#include "control/cli/capture_end.hpp"
#include "control/cli/commands.hpp"
#include "control/cli/replay/summary.hpp"
#include "control/cli/replay/verdict_writer.hpp"
#include "control/cli/replay/worker_set.hpp"
#include "control/cli/terminal.hpp"
#include "control/cli/text_file.hpp"
#include "lib/act/tag.hpp"
#include "lib/capture/writer.hpp"
#include "lib/policy/box.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <variant>

namespace sluice {
namespace {

// Where the frames and the verdicts go, if anywhere.
struct Outputs {
    std::optional<CaptureWriter> frames;
    std::optional<VerdictWriter> verdicts;
};

// The packet policies, the pair's name and what RSS hashes, from sluice.yaml.
void adopt_box(const Box& box, ReplaySetup& setup) {
    setup.policy.malformed =
        box.malformed == "drop" ? MalformedPolicy::Drop : MalformedPolicy::Pass;
    setup.policy.tunnels = {box.tunnel_gre, box.tunnel_vxlan, box.tunnel_ipip};
    if (!box.pairs.empty()) {
        const BoxPair& pair = box.pairs.front();
        setup.pair = pair.name;
        setup.rss_outside = rss_input(pair.outside.rss).value_or(RssInput::Source);
        setup.rss_inside = rss_input(pair.inside.rss).value_or(RssInput::Source);
    }
}

std::variant<ReplaySetup, ExitCode> set_up(const Options& options) {
    ReplaySetup setup;
    setup.workers = options.workers;
    Result<std::vector<IpPrefix>> inside = parse_prefixes(options.inside);
    if (!inside) {
        say_error(inside.error().what);
        return ExitCode::Usage;
    }
    setup.inside = *std::move(inside);
    if (options.config_file.empty()) {
        return setup;
    }
    const Result<std::string> text = read_text_file(options.config_file);
    if (!text) {
        say_error(text.error().what);
        return ExitCode::Refused;
    }
    Problems problems{options.config_file};
    const auto box = read_box({options.config_file, *text}, Purpose::Enforce, problems);
    say_problems(problems.list(), *text);
    if (!box) {
        return ExitCode::Refused;
    }
    adopt_box(*box, setup);
    return setup;
}

std::optional<CompiledRules> load_rules(const Options& options) {
    const Result<std::string> text = read_text_file(options.rules_file);
    if (!text) {
        say_error(text.error().what);
        return std::nullopt;
    }
    Problems problems{options.rules_file};
    auto compiled = compile_rules({options.rules_file, *text}, Purpose::Enforce, {}, problems);
    say_problems(problems.list(), *text);
    if (!compiled) {
        return std::nullopt;
    }
    std::uint32_t next = 0;
    for (Rule& rule : compiled->set.rules) {
        rule.counters = next++;
        if (options.enforce && rule.mode == Mode::Monitor) {
            rule.mode = Mode::Enforce;
        }
    }
    return compiled;
}

bool would_overwrite(const Options& options) {
    std::error_code none;
    for (const std::string& path : {options.out_file, options.verdicts_file}) {
        for (const std::string& input : {options.pcap_file, options.rules_file}) {
            if (!path.empty() && std::filesystem::equivalent(path, input, none)) {
                say_error(fmt::format("{} would be overwritten while it is read", input));
                return true;
            }
        }
    }
    return false;
}

template <typename Writer>
bool create(const std::string& path, std::optional<Writer>& into) {
    if (path.empty()) {
        return true;
    }
    Result<Writer> writer = Writer::create(path);
    if (!writer) {
        say_error(writer.error().what);
        return false;
    }
    into.emplace(*std::move(writer));
    return true;
}

template <typename Writer>
bool finish(std::optional<Writer>& writer) {
    if (!writer) {
        return true;
    }
    const Result<Done> done = writer->finish();
    if (!done) {
        say_error(done.error().what);
    }
    return done.has_value();
}

// The frame as it would have left the box.
void forward(KeptFrame& kept, const Packet& packet, const RuleSet& rules, CaptureWriter& out) {
    if (packet.decision.verdict == Verdict::Tag) {
        const TagValues& tag = rules.rules[packet.decision.rule].tag;
        tag_frame(kept.bytes(), packet.flow, tag.dscp, tag.pcp);
    }
    out.write(kept.frame());
}

void replay_all(FrameSource& source, WorkerSet& workers, const RuleSet& rules,
                const std::string& pair, std::pair<Outputs&, ReplaySummary&> into) {
    auto& [outputs, summary] = into;
    for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
        const std::vector<const Packet*>& rows = workers.judge(frames, source.now());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            summary.count(rows[i]->decision);
            if (outputs.verdicts) {
                outputs.verdicts->write(
                    verdict_line(frames[i].frame().number, *rows[i], rules, pair));
            }
            if (outputs.frames && forwards(rows[i]->decision.verdict)) {
                forward(frames[i], *rows[i], rules, *outputs.frames);
            }
        }
    }
}

}  // namespace

ExitCode run_replay(const Options& options) {
    const auto setup = set_up(options);
    return ExitCode::Done;
}

}  // namespace sluice
