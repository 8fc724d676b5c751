#include "control/replay/draft_replay.hpp"

#include "control/heatmap/limit_terms.hpp"
#include "control/replay/exact_maps.hpp"
#include "control/replay/frame_source.hpp"
#include "control/replay/replay_answers.hpp"
#include "control/replay/replay_rules.hpp"
#include "control/replay/worker_set.hpp"
#include "lib/capture/reader.hpp"
#include "lib/watch/heatmap/heat_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostBuckets = std::size_t{1} << 20;
constexpr std::size_t kMostValuesOfField = 20;
constexpr std::uint32_t kNamesOfSecond = 1U << 20;

Result<CaptureReader> reader_of(ByteView capture) {
    if (capture.empty()) {
        return Error{Errc::BadSyntax, "there is no byte in it"};
    }
    std::FILE* const stream =
        ::fmemopen(const_cast<std::byte*>(capture.data()), capture.size(), "rb");
    return stream == nullptr ? Result<CaptureReader>{Error{Errc::NoMemory, "no memory to read it"}}
                             : CaptureReader::from_stream(stream, "the capture");
}

// Facts of a capture that is whole.
struct CaptureShape {
    std::uint64_t frames = 0;
    std::uint64_t most_in_second = 0;
    Instant first{};
    Instant last{};
    LeftOut left_out;

    void add(Instant at) noexcept {
        if (frames++ == 0) {
            first = last = at;
        }
        if (at > last) {
            in_second = at.time_since_epoch() / std::chrono::seconds{1} ==
                                last.time_since_epoch() / std::chrono::seconds{1}
                            ? in_second
                            : 0;
            last = at;
        }
        most_in_second = std::max(most_in_second, ++in_second);
    }
    std::uint64_t in_second = 0;
};

Result<CaptureShape> shape_of(ByteView capture) {
    Result<CaptureReader> reader = reader_of(capture);
    if (!reader) {
        return reader.error();
    }
    CaptureShape shape;
    CapturedFrame frame;
    CaptureReader::Next next = reader->next(frame);
    for (; next == CaptureReader::Next::Frame; next = reader->next(frame)) {
        shape.add(frame.timestamp);
    }
    shape.left_out = reader->left_out();
    switch (next) {
        case CaptureReader::Next::NotEthernet:
            return Error{Errc::NotSupported,
                         "it holds no Ethernet frame; capture on an Ethernet interface"};
        case CaptureReader::Next::Cut:
            return Error{Errc::BadSyntax,
                         fmt::format("it ends inside its record {} ({}): it is not "
                                     "whole",
                                     shape.frames + 1, reader->fault())};
        case CaptureReader::Next::Broken:
            return Error{Errc::BadSyntax,
                         fmt::format("{} behind {} good frames", reader->fault(), shape.frames)};
        default:
            return shape;
    }
}

// The shortest columns in which the whole of it is seen.
unsigned step_of(const CaptureShape& shape) {
    const auto seconds =
        static_cast<std::size_t>((shape.last - shape.first) / std::chrono::seconds{1}) + 1;
    const auto* const found = std::ranges::find_if(
        kColumnSteps, [&](unsigned step) { return seconds / step + 2 <= kMostReplayedColumns; });
    return found == kColumnSteps.end() ? kColumnSteps.back() : *found;
}

ReplaySetup setup_for(const CaptureForDraft& ask, const CaptureShape& shape) {
    ReplaySetup setup{.units = capture_unit_budget(ask.treatment.units), .pair = ask.pair};
    setup.policy.malformed = ask.treatment.malformed;
    setup.policy.tunnels = ask.treatment.tunnels;
    setup.inside = ask.inside;
    setup.buckets = std::clamp(std::bit_ceil(2 * shape.frames), std::uint64_t{1} << 12,
                               std::uint64_t{kMostBuckets});
    return setup;
}

ExactMaps::Terms map_terms(const CaptureForDraft& ask, const CaptureShape& shape,
                           std::size_t limits) {
    constexpr std::uint64_t kLeastRecords = 64;
    constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 22;
    return {.rule = ask.draft,
            .records = std::bit_ceil(
                std::clamp(4 * limits * shape.most_in_second, kLeastRecords, kMostRecords)),
            .columns = kMostReplayedColumns,
            .step = step_of(shape),
            .names = kNamesOfSecond};
}

// The one run of a capture.
class DraftRun {
public:
    DraftRun(const CaptureForDraft& ask, const ReplayRules& rules, const CaptureShape& shape,
             std::size_t rule)
        : ask_{ask},
          rules_{rules},
          set_{rules.loaded.set()},
          draft_{set_.rules[rule]},
          setup_{setup_for(ask, shape)},
          tally_{draft_.limits.size(), set_.meter_plan.rules[rule].first_limit},
          maps_{rules, 1, with_tally(map_terms(ask, shape, draft_.limits.size()))},
          workers_{setup_, rules.loaded} {
        workers_.know_answered(answers_.answered());
        workers_.watch_keys(maps_.tables());
        workers_.describe_keys(sampler_);
    }

    // False: it has taken too long.
    [[nodiscard]] bool run(CaptureReader& reader) {
        FrameSource source{reader};
        for (auto frames = source.next_batch(); !frames.empty(); frames = source.next_batch()) {
            if (!ask_.may_go_on()) {
                return false;
            }
            judge(frames, source.now());
        }
        maps_.finish();
        return true;
    }

    void tell(DraftReplay& told, const RuleSummary& summary) {
        collect_rules(told);
        collect_limits(told, summary);
        told.values = tally_.values(kMostValuesOfField);
        told.heatmaps = maps_.json();
        told.packets = packets_;
        told.by_verdict = by_verdict_;
        told.table_full = workers_.table_full();
        told.is_exact = maps_.is_exact() && told.table_full == 0;
        told.clock_stopped = workers_.clock_stopped();
    }

private:
    // Numbers of a limit are of what it counts, whatever each of that costs.
    void collect_limits(DraftReplay& told, const RuleSummary& summary) const {
        const bool by_path = draft_.costs_by_path != nullptr;
        const std::uint64_t cost = by_path ? 1 : draft_.cost;
        std::set<std::string> units;
        for (unsigned i = 0; i < draft_.limits.size() && i < summary.limits.size(); ++i) {
            const HeatTerms terms = heat_terms(summary.limits[i]);
            units.emplace(terms.unit);
            DraftTally::OfLimit counts = tally_.of_limit(i);
            counts.offered /= cost;
            counts.refused /= cost;
            told.limits.push_back({.name = summary.limits[i].name,
                                   .text = terms.text,
                                   .unit = by_path ? "units" : std::string{terms.unit},
                                   .counts = counts});
            if (counts.share() > told.limits[told.worst].counts.share()) {
                told.worst = i;
            }
        }
        if (units.size() == 1 && !units.contains("bytes")) {
            told.unit = *units.begin();
        }
        if (!told.limits.empty()) {
            told.names = tally_.most_refused(static_cast<unsigned>(told.worst), kMostReplayedNames,
                                             pair_of());
        }
        for (ReplayedGroup& group : told.names) {
            group.offered /= cost;
            group.refused /= cost;
        }
    }
    [[nodiscard]] HeatCollector::PairOf pair_of() const {
        return [this](std::uint64_t) { return setup_.pair; };
    }
    [[nodiscard]] ExactMaps::Terms with_tally(ExactMaps::Terms terms) {
        terms.see = [this](unsigned limit, std::span<const HeatSample> keys) {
            tally_.add(limit, keys);
        };
        return terms;
    }

    void judge(std::span<KeptFrame> frames, Instant captured) {
        const Now now = workers_.time_of(captured);
        maps_.reach(now.utc());
        const std::vector<BurstRow>& rows = workers_.judge(frames, captured);
        (void)answers_.answer(rows, set_, now.at, captured);
        for (const BurstRow& row : rows) {
            ++by_verdict_[static_cast<std::size_t>(row.decision().verdict)];
        }
        packets_ += rows.size();
        tally_.describe(sampler_, pair_of());
    }

    // Both lists are in the order of the file; the set leaves out the rules that are off.
    void collect_rules(DraftReplay& told) const {
        auto running = set_.rules.begin();
        for (const RuleSummary& rule : rules_.summaries) {
            DraftReplay::RuleRow row{.id = rule.id, .mode = Mode::Off, .counts = {}};
            if (running != set_.rules.end() && running->id == rule.id) {
                row.mode = running->mode;
                row.counts = workers_.totals(*running);
                ++running;
            }
            told.rules.push_back(std::move(row));
        }
    }

    const CaptureForDraft& ask_;
    const ReplayRules& rules_;
    const LoadedSet& set_;
    const LoadedRule& draft_;
    ReplaySetup setup_;
    DraftTally tally_;
    ExactMaps maps_;
    ReplayAnswers answers_;
    // The packets that it describes alone are of use here: what it watches is the maps'.
    HeatSampler sampler_{{.records = HeatTable::kProbed, .limits = 1, .ring = 1024}};
    WorkerSet workers_;
    std::uint64_t packets_ = 0;
    std::array<std::uint64_t, kVerdictCount> by_verdict_{};
};

bool enforce_draft(CompiledRules& compiled, const std::string& id) {
    const auto rule = std::ranges::find(compiled.set.rules, id, &Rule::id);
    if (rule == compiled.set.rules.end()) {
        return false;
    }
    rule->mode = Mode::Enforce;
    return true;
}

}  // namespace

Result<DraftReplay> replay_draft(CaptureForDraft ask) {
    const Result<CaptureShape> shape = shape_of(ask.capture);
    if (!shape) {
        return shape.error();
    }
    if (!enforce_draft(ask.rules, ask.draft)) {
        return Error{Errc::Refused, "its mode is off, so nothing of it is judged"};
    }
    const Result<ReplayRules> rules = ready_to_run(std::move(ask.rules), setup_for(ask, *shape));
    if (!rules) {
        return rules.error();
    }
    Result<CaptureReader> reader = reader_of(ask.capture);
    if (!reader) {
        return reader.error();
    }
    const std::vector<LoadedRule>& all = rules->loaded.set().rules;
    const auto draft = std::ranges::find(all, ask.draft, &LoadedRule::id);
    const auto summary = std::ranges::find(rules->summaries, ask.draft, &RuleSummary::id);
    DraftRun run{ask, *rules, *shape, static_cast<std::size_t>(draft - all.begin())};
    if (!run.run(*reader)) {
        return Error{Errc::TooMany, fmt::format("its {} frames take longer than one replay here "
                                                "may; send a part of it, or use sluicectl replay",
                                                shape->frames)};
    }
    DraftReplay told{.from_utc_ns = shape->first.time_since_epoch().count(),
                     .to_utc_ns = shape->last.time_since_epoch().count(),
                     .left_out = shape->left_out};
    run.tell(told, *summary);
    return told;
}

}  // namespace sluice
