#include "dataplane/io/dpdk_io.hpp"
#include "lib/engine/worker/held_frames.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// A3: what packets pay for rules that hold or answer other ones.
namespace sluice::bench {
namespace {

constexpr std::uint64_t kNobody = 12'345;  // a connection that none of the frames is of

// A rule that matches none of the frames, and what becomes of those that it refuses.
std::string others_rule(std::string_view on_exceed) {
    return "  - {id: others, mode: enforce, when: 'ip.dst eq 203.0.113.77 and l4.dport eq 80', "
           "key: [ip.src], limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 100}], "
           "on_exceed: " +
           std::string{on_exceed} + "}\n";
}

// Where decisions are carried out: every frame goes back to the mill whatever was decided.
class CountingSink {
public:
    void forward(std::size_t /*row*/) noexcept { ++forwarded; }
    void drop(std::size_t /*row*/) noexcept { ++dropped; }
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t /*row*/, Write&& /*write*/) noexcept {
        return true;
    }
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t /*row*/, Toward /*side*/, std::size_t /*size*/,
                            Write&& /*write*/) noexcept {
        ++others;
        return true;
    }
    [[nodiscard]] Instant now() const noexcept { return {}; }
    void hold(std::size_t /*row*/, Instant /*until*/) noexcept { ++others; }

    std::size_t forwarded = 0;
    std::size_t dropped = 0;
    std::size_t others = 0;  // that were held or answered
};

// A worker whose decisions are carried out, held packets and answers too if there are any.
class ActingStation {
public:
    ActingStation(PacketMill& mill, const std::string& rules, std::size_t bursts)
        : worker_{warm_worker(mill, {.text = rules}, bursts)} {
        worker_->know_answered(answerer_.answered());
        worker_->after_burst([this](const Burst& burst, Instant now) { act(burst, now); });
        worker_->run(bursts);
    }
    // From now on, connections of others have been answered a short time ago.
    void answer_others() {
        boards_.servers.post(kNobody,
                             static_cast<std::uint32_t>(worker_->now().at.time_since_epoch() /
                                                        std::chrono::seconds{1}));
    }
    [[nodiscard]] BenchWorker& worker() noexcept { return *worker_; }
    [[nodiscard]] std::size_t others() const noexcept { return sink_.others; }

private:
    // The burst is the worker's own, which hands it out to be looked at.
    void act(const Burst& burst, Instant now) {
        const LoadedSet& set = worker_->rules();
        const Answering answering{answerer_,
                                  {.actions = set.actions,
                                   .plan = set.answers,
                                   .load = set.load,
                                   .now = now,
                                   .hash = worker_->hash(),
                                   .follows = set.meter_plan.answers}};
        act_burst(const_cast<Burst&>(burst), set.actions, sink_, &answering);
        send_due(now);
        answerer_.take_events([](std::size_t, std::uint32_t) {});
    }
    // As the dataplane's worker in each round.
    void send_due(Instant now) {
        std::array<HeldFrame<DpdkIo>, kMaxBurst> due;
        sink_.others += held_.empty() ? 0 : held_.take_due(now, due);
    }

    std::unique_ptr<BenchWorker> worker_;
    AnswerBoards boards_;
    Answerer answerer_{kAnsweredConnections, boards_};
    HeldFrames<DpdkIo> held_{1024};
    CountingSink sink_;
};

void print_rows(const std::string& set, const std::vector<Side>& sides) {
    const Side& alone = sides[0];
    const Side& drops = sides[1];
    for (std::size_t i = 2; i < sides.size(); ++i) {
        print_speed("A3", set + ", and a rule that " + sides[i].name, sides[i], drops.name,
                    mpps(drops));
    }
    print_speed("A3", set + ", and a rule that drops others", drops, alone.name, mpps(alone));
}

void measure_set(const PipelineRun& run, const std::string& name, const std::string& rules,
                 PacketMill::Headers headers) {
    PacketMill mill{headers};
    const std::size_t bursts = run.bursts();
    ActingStation alone{mill, rules, bursts};
    ActingStation drops{mill, rules + others_rule("{action: drop}"), bursts};
    ActingStation shapes{mill, rules + others_rule("{action: shape, max_delay: 1s}"), bursts};
    ActingStation answers{mill, rules + others_rule("{action: reply}"), bursts};
    ActingStation answered{mill, rules + others_rule("{action: reply}"), bursts};
    answered.answer_others();
    std::vector<Side> sides{side_of("without the rule", alone.worker(), bursts),
                            side_of("where it drops", drops.worker(), bursts),
                            side_of("shapes others", shapes.worker(), bursts),
                            side_of("answers others", answers.worker(), bursts),
                            side_of("answers others, and has", answered.worker(), bursts)};
    run_rounds(sides, kRounds);
    print_rows(name, sides);
    for (const ActingStation* station : {&alone, &drops, &shapes, &answers, &answered}) {
        if (station->others() != 0) {
            std::fprintf(stderr, "  A3 %zu packets were held or answered\n", station->others());
            std::exit(1);
        }
    }
}

}  // namespace

void measure_unconcerned(const PipelineRun& run) {
    std::ifstream file{run.rule_file, std::ios::binary};
    const std::string rules{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    measure_set(run, "UDP under one rule", std::string{kOneRule}, PacketMill::Headers::Source);
    measure_set(run, run.rule_file.substr(run.rule_file.rfind('/') + 1), rules,
                PacketMill::Headers::PerSource);
}

}  // namespace sluice::bench
