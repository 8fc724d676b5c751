#include "control/cli/replay/setup.hpp"

#include "control/cli/box_config.hpp"
#include "control/cli/rule_input.hpp"
#include "control/cli/terminal.hpp"
#include "lib/policy/placement/rss_mapping.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {
namespace {

// The packet policies, the name of the first pair, and what its ports hash.
void adopt_box(const BoxConfig& box, ReplaySetup& setup) {
    setup.policy.malformed = box.malformed;
    setup.policy.tunnels = box.tunnels;
    setup.units = capture_unit_budget(box.units);
    if (!box.pairs.empty()) {
        const PairConfig& pair = box.pairs.front();
        setup.pair = pair.name;
        setup.rss_outside = pair.outside.rss;
        setup.rss_mapping = rss_mapping_of(box);
        setup.merge_interval = box.merge_interval;
        setup.rss_inside = pair.inside.rss;
    }
}

// Several workers get frames as WorkerSet spreads them. One worker is shown as the box would have
// it.
RssMapping box_of(const ReplaySetup& setup) {
    RssMapping box = setup.rss_mapping.value_or(usual_rss_mapping());
    if (setup.workers > 1) {
        constexpr auto kBy = PortRssMapping::By::Handover;
        box.ports = {{setup.pair, Direction::In, kBy, setup.rss_outside},
                     {setup.pair, Direction::Out, kBy, setup.rss_inside}};
        box.workers = setup.workers;
        box.merge_interval = setup.merge_interval;
    }
    return box;
}

// Rules and services that monitor act, but for candidates, which never do. Both lists are in the
// order of the file; the set leaves out the rules that are off.
void enforce_all(CompiledRules& compiled) {
    for (Service& service : compiled.set.services) {
        service.mode = Mode::Enforce;
    }
    auto running = compiled.set.rules.begin();
    for (const RuleSummary& rule : compiled.rules) {
        if (running == compiled.set.rules.end() || running->id != rule.id) {
            continue;
        }
        if (running->mode == Mode::Monitor && rule.kind != RuleKind::Candidate) {
            running->mode = Mode::Enforce;
        }
        ++running;
    }
}

void only_watch(CompiledRules& compiled) {
    for (Rule& rule : compiled.set.rules) {
        rule.mode = Mode::Monitor;
    }
}

struct Compiling {
    std::optional<CompiledRules> compiled;
    std::vector<Problem> problems;
};
Compiling compile_for(const RuleFiles& files, const ReplaySetup& setup) {
    Problems problems{files.label};
    const ListReader lists = lists_of(files);
    const RssMapping box = box_of(setup);
    const std::vector<RuleFilePart> parts = parts_of(files.text, files.slices);
    auto compiled = compile_rules(
        {.file = files.label, .text = files.text, .lists = &lists, .box = &box, .parts = parts},
        Purpose::Enforce, {}, problems);
    return {std::move(compiled), problems.list()};
}

// True if services have to see both directions and no file says how ports spread them.
bool wants_mirror(const CompiledRules& compiled, const ReplaySetup& setup) {
    const std::vector<Service>& services = compiled.set.services;
    return !setup.rss_mapping && setup.workers > 1 &&
           std::any_of(services.begin(), services.end(),
                       [](const Service& service) { return service.path == ServicePath::Both; });
}

}  // namespace

std::variant<ReplaySetup, ExitCode> replay_setup(const Options& options) {
    ReplaySetup setup;
    setup.workers = options.workers;
    Result<std::vector<IpPrefix>> inside = parse_prefixes(options.inside);
    if (!inside) {
        return refuse("--inside: " + inside.error().what, ExitCode::Usage);
    }
    setup.inside = *std::move(inside);
    if (!options.config_file.empty()) {
        const std::optional<BoxConfig> box = read_box_file(options.config_file);
        if (!box) {
            return ExitCode::Refused;
        }
        adopt_box(*box, setup);
    }
    return setup;
}

std::variant<ReplayRules, ExitCode> replay_rules(const Options& options, ReplaySetup& setup,
                                                 RulesAct act) {
    const auto read = read_rules(options);
    if (const auto* exit = std::get_if<ExitCode>(&read)) {
        return *exit;
    }
    const auto& files = std::get<RuleFiles>(read);
    Compiling first = compile_for(files, setup);
    if (first.compiled && wants_mirror(*first.compiled, setup)) {
        setup.rss_inside = *mirror_of(setup.rss_outside);
        first = compile_for(files, setup);
    }
    say_file_problems(first.problems, files);
    std::optional<CompiledRules>& compiled = first.compiled;
    if (!compiled) {
        return ExitCode::Refused;
    }
    if (options.enforce) {
        enforce_all(*compiled);
    }
    if (act == RulesAct::No) {
        only_watch(*compiled);
    }
    Result<ReplayRules> ready = ready_to_run(*std::move(compiled), setup);
    if (!ready) {
        return refuse(ready.error().what);
    }
    return *std::move(ready);
}

}  // namespace sluice
