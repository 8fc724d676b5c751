#include "lib/engine/stage/preview_burst.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// V1: what packets pay while somebody previews a draft of their rule.
namespace sluice::bench {
namespace {

constexpr std::string_view kRule =
    "version: 1\nrules:\n  - {id: per-source, mode: enforce, key: [ip.src], limits: [{algorithm: "
    "token_bucket, rate: 10/s, burst: 1M}]}\n";

LoadedRules draft_of(std::string_view text) {
    Problems problems{"bench"};
    std::optional<CompiledRules> compiled =
        compile_rules({"bench", text, nullptr}, Purpose::Enforce, {}, problems);
    Result<LoadedRules> loaded =
        LoadedRules::make(std::move(compiled.value().set),
                          {.secret = HashSecret{1, 2}, .origins = OriginTable::LeftOut});
    return *std::move(loaded);
}

// A worker that one preview looks at: of the rule that it replaces. What it shows is read between
// rounds, which another thread does ten times a second in a box.
class PreviewedWorker {
public:
    explicit PreviewedWorker(PacketMill& mill)
        : worker_{mill, kRule, PacketMill::kSources},
          trace_{{.rule = "per-source", .preview = worker_.hash()}, draft_of(kRule), 1},
          rule_{rule_called("per-source", worker_.rules())} {
        worker_.after_burst([this](Burst& burst, Instant now) {
            trace_burst(trace_, 0,
                        {.burst = burst, .set = worker_.rules(), .rule = rule_, .now = {now, {}}});
        });
    }
    [[nodiscard]] BenchWorker& worker() noexcept { return worker_; }
    void read() {
        PreviewTap& tap = *trace_.preview_tap(0);
        tap.keys().drain([](const PreviewKeyRecord&) {});
        tap.ring().drain([this](const PreviewRecord& record) { shown_ += record.amounts.packets; });
    }
    [[nodiscard]] std::uint64_t shown() const noexcept { return shown_; }
    [[nodiscard]] PreviewTap& tap() noexcept { return *trace_.preview_tap(0); }

private:
    BenchWorker worker_;
    Trace trace_;
    std::uint32_t rule_;
    std::uint64_t shown_ = 0;
};

}  // namespace

void measure_preview(const PipelineRun& run) {
    PacketMill mill;
    const std::size_t packets = 2 * run.packets();
    const std::size_t bursts = packets / PacketMill::kBurst;
    BenchWorker plain{mill, kRule, PacketMill::kSources};
    plain.after_burst([](const Burst&, Instant) {});
    PreviewedWorker previewed{mill};
    plain.run(bursts);
    previewed.worker().run(bursts);
    const auto round = [&](BenchWorker& worker) {
        return cpu_ns_per(packets, [&] { worker.run(bursts); });
    };
    std::vector<Side> sides{{"without a preview", [&] { return round(plain); }},
                            {"with a preview", [&] {
                                 previewed.read();
                                 return round(previewed.worker());
                             }}};
    run_rounds(sides, kRounds);
    previewed.read();
    print_speed("V1", "all admitted, 2^20 sources, a preview of the rule", sides[1],
                "without a preview", mpps(sides[0]));
    std::fprintf(stderr, "  V1 preview: one key in 2^%u, %llu packets shown of %llu\n",
                 unsigned{previewed.tap().bits()},
                 static_cast<unsigned long long>(previewed.shown()),
                 static_cast<unsigned long long>(previewed.tap().counted().packets));
}

}  // namespace sluice::bench
