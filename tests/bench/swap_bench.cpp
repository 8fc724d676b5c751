#include "dataplane/worker/quiesce.hpp"
#include "lib/engine/worker.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/policy/compile.hpp"
#include "lib/share/core.hpp"
#include "lib/wire/codec.hpp"
#include "tests/bench/mill_io.hpp"
#include "tests/bench/packet_mill.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/rule_mix.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <rte_cycles.h>
#include <sys/resource.h>

// R1: a set of a thousand rules, all of whose numbers and conditions change, is swapped every
// second under a worker that judges without a pause; quiet and swapping seconds alternate. The
// other thread does what the dataplane's main lcore does of an `apply`: decode, give out slots and
// rows, publish, wait for the worker, free the old set. Prints one JSON object a line.
namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kPerBurst{1000};
constexpr auto kGraceTimeout = 200ms;  // as the dataplane

void pin_to(unsigned cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu % std::max(std::thread::hardware_concurrency(), 1U), &cpus);
    (void)::pthread_setaffinity_np(::pthread_self(), sizeof(cpus), &cpus);
}

RuleSet compile(const std::string& text) {
    Problems problems{"bench"};
    std::optional<CompiledRules> compiled =
        compile_rules({"bench", text}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        std::fprintf(stderr, "%s\n", render(problems.list().front(), text).c_str());
        std::exit(1);
    }
    return std::move(compiled->set);
}

// What the worker has seen so far. Written by it, read by the other thread.
struct Seen {
    Counter packets;
    Counter longest_gap;   // ticks between two bursts, since it was last set to 0
    Counter adopting_gap;  // ticks from the last burst under the old set to the first under the new
};

// The worker's bursts are noted here as they leave.
class GapWatch {
public:
    explicit GapWatch(Seen& seen) : seen_{&seen} {}

    void operator()(const Burst& burst, std::span<const Action> actions) noexcept {
        const std::uint64_t now = rte_rdtsc();
        const std::uint64_t gap = now - last_;
        last_ = now;
        seen_->longest_gap.set(std::max(gap, seen_->longest_gap.read()));
        // Each set has a table of its own.
        if (actions.data() != set_) {
            set_ = actions.data();
            seen_->adopting_gap.set(gap);
        }
        seen_->packets.add(burst.size());
    }

private:
    Seen* seen_;
    std::uint64_t last_ = rte_rdtsc();
    const Action* set_ = nullptr;
};

// The worker's thread, whose clock goes on by the burst.
class SwapHost {
public:
    struct ReadTicks {
        std::uint64_t operator()() const noexcept { return rte_rdtsc(); }
    };
    SwapHost(QuiesceBoard& board, const Signal& stop) : board_{&board}, stop_{&stop} {}

    [[nodiscard]] Now now() noexcept {
        now_.at += kPerBurst;
        return now_;
    }
    void begin() noexcept {
        pin_to(1);
        board_->join(0);
    }
    [[nodiscard]] bool stopped() const noexcept { return stop_->raised(); }
    void pass() noexcept { board_->quiescent(0); }
    void rest(unsigned /*idle_turns*/) const noexcept {}
    void end() noexcept { board_->leave(0); }

private:
    QuiesceBoard* board_;
    const Signal* stop_;
    Now now_{Instant{1h}, {}};
};

// The box's loop over a mill that always has a burst: a turn is as long as turns may be.
class SwapWorker {
public:
    SwapWorker(PacketMill& mill, const Published<Running>& running, QuiesceBoard& board,
               const Signal& stop)
        : worker_{roster_.enlist(),
                  {running, peers_, 1, capture_unit_budget(), {}, records_, 0, boards_},
                  {.policy = {.tell_wait = false},
                   .hash = KeyHasher{{1, 2}},
                   .buckets = BucketStore{2 * PacketMill::kSources * 94 / 80, 16},
                   .counters = counters_},
                  lanes_of(mill),
                  SwapHost{board, stop}} {}

    void run() { worker_.run(); }

    [[nodiscard]] const WorkerCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] const BucketStore& buckets() const noexcept { return worker_.buckets(); }
    [[nodiscard]] Seen& seen() noexcept { return seen_; }

private:
    using Lane = MillIo<GapWatch>;
    [[nodiscard]] WorkerLanes<Lane> lanes_of(PacketMill& mill) {
        WorkerLanes<Lane> lanes;
        lanes.lanes.emplace_back(mill, GapWatch{seen_});
        return lanes;
    }

    Seen seen_;
    WorkerCounters counters_;
    PeerLanes peers_{1};
    AnswerBoards boards_{256, 4096};
    std::vector<Record> records_ = std::vector<Record>(16);
    CoreRoster roster_;
    Worker<Lane, SwapHost> worker_;
};

// The main lcore's part.
class Loader {
public:
    Loader(Published<Running>& running, QuiesceBoard& board) : running_{running}, board_{board} {}

    void watch(SwapWorker& worker) {
        environment_.tables = {
            [&worker](LimitSlot slot) { return worker.buckets().registry.entries_of(slot).read(); },
            [&worker] { return worker.counters().settled.read(); }};
        environment_.row_totals = [&worker](std::uint32_t row) {
            const RuleCounters& counters = worker.counters().rules[row];
            RuleTotals totals;
            totals.counts.admitted = counters.admitted.read();
            totals.counts.exceeded = counters.exceeded.read();
            totals.counts.skipped = counters.skipped.read();
            return totals;
        };
    }

    // Ends the program if the set is refused, or the worker does not take it up in time.
    void swap(const std::vector<std::byte>& message) {
        Result<Request> request = decode_request(message);
        environment_.before = loaded_.get();
        Result<LoadedRules> fits =
            LoadedRules::make(std::get<ApplyRules>(*std::move(request)).rules, environment_);
        if (!fits) {
            std::fprintf(stderr, "%s\n", fits.error().what.c_str());
            std::exit(1);
        }
        loaded_ = std::make_shared<const LoadedRules>(*std::move(fits));
        auto next = std::make_unique<Running>();
        next->state = Running::State::Enforce;
        next->loaded = loaded_;
        Retired<Running> old = running_.publish(std::move(next));
        std::optional<GracePeriod> proof = board_.wait_for(board_.mark(), kGraceTimeout);
        if (!proof) {
            std::fprintf(stderr, "the worker did not take up the rules within 200 ms\n");
            std::exit(1);
        }
        std::move(old).reclaim(*proof);
    }
    [[nodiscard]] std::uint64_t loads() const noexcept { return loaded_->set().load; }

private:
    Published<Running>& running_;
    QuiesceBoard& board_;
    Environment environment_{.secret = {1, 2}};
    std::shared_ptr<const LoadedRules> loaded_ = std::make_shared<const LoadedRules>();
};

std::vector<std::byte> message_of(std::uint64_t seed, unsigned shift, const std::string& rate) {
    const std::string limits = "[{algorithm: token_bucket, rate: " + rate + ", burst: 1M}]";
    return encode(Request{ApplyRules{compile(mixed_rules(1000, limits, seed, shift)), {}, {}}});
}

// Two sets that take turns.
struct Case {
    const char* name;
    std::vector<std::byte> sets[2];
};

double microseconds(std::uint64_t ticks) {
    return static_cast<double>(ticks) * 1e6 / static_cast<double>(rte_get_tsc_hz());
}

double micros_of(clockid_t clock) {
    timespec now{};
    (void)::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// What a swap takes of the thread that makes it.
struct Cost {
    double cpu_us = 0;
    double faults = 0;  // pages that the kernel had to find
};

Cost spent() {
    rusage used{};
    (void)::getrusage(RUSAGE_THREAD, &used);
    return {micros_of(CLOCK_THREAD_CPUTIME_ID), static_cast<double>(used.ru_minflt)};
}

void print_median(const char* name, const char* unit, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::printf(
        "{\"id\": \"R1\", \"case\": \"%s\", \"value\": %.1f, \"unit\": \"%s\", \"rounds\": %s}\n",
        name, values[values.size() / 2], unit, list_of(values).c_str());
}

void print_gap(const char* name, std::vector<double> gaps) {
    std::sort(gaps.begin(), gaps.end());
    std::printf(
        "{\"id\": \"R1\", \"case\": \"%s, the longest\", \"value\": %.1f, \"unit\": \"us\"}\n",
        name, gaps.back());
    print_median((std::string{name} + ", the median").c_str(), "us", std::move(gaps));
}

// Seconds, in millions of packets.
struct Seconds {
    std::vector<double> by_clock;
    std::vector<double> by_cpu;  // of CPU time that the worker had: others on the machine tell less
};

// A second as `body` fills it.
template <typename Body>
void second(SwapWorker& worker, clockid_t cpu, Seconds& seconds, Body&& body) {
    const auto begin = std::chrono::steady_clock::now();
    const double cpu_begin = micros_of(cpu);
    const std::uint64_t before = worker.seen().packets.read();
    body();
    std::this_thread::sleep_until(begin + 1s);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    const auto packets = static_cast<double>(worker.seen().packets.read() - before);
    seconds.by_clock.push_back(packets / took.count());
    seconds.by_cpu.push_back(packets / (micros_of(cpu) - cpu_begin));
}

void print_case(const char* name, const char* reference, const std::vector<double>& quiet,
                const std::vector<double>& swapping) {
    const Side still{"quiet", {}, quiet};
    const Side moving{"swapping", {}, swapping};
    std::printf(
        "{\"id\": \"R1\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"Mpps\", "
        "\"reference\": \"%s\", \"reference_value\": %.3f, \"ratio\": %.3f, "
        "\"rounds\": %s}\n",
        name, moving.median(), reference, still.median(), moving.median() / still.median(),
        list_of(swapping).c_str());
}

void measure(const Case& each, PacketMill& mill, bool quick) {
    Published<Running> running{std::make_unique<const Running>()};
    QuiesceBoard board{1};
    Loader loader{running, board};
    Signal stop;
    SwapWorker worker{mill, running, board, stop};
    loader.watch(worker);
    std::thread thread{[&] { worker.run(); }};
    loader.swap(each.sets[0]);
    while (worker.seen().packets.read() < 16 * PacketMill::kSources) {
        std::this_thread::sleep_for(10ms);  // until every bucket is filed
    }

    Seconds quiet;
    Seconds swapping;
    clockid_t worker_cpu{};
    (void)::pthread_getcpuclockid(thread.native_handle(), &worker_cpu);
    std::vector<double> adopting;
    std::vector<double> loading;
    std::vector<double> quiet_gaps;
    std::vector<double> cpu;
    std::vector<double> faults;
    // Each set has as many quiet seconds as swapping ones.
    for (int round = 0; round < (quick ? 10 : 30); ++round) {
        worker.seen().longest_gap.set(0);
        second(worker, worker_cpu, quiet, [] {});
        quiet_gaps.push_back(microseconds(worker.seen().longest_gap.read()));
        second(worker, worker_cpu, swapping, [&] {
            const auto begin = std::chrono::steady_clock::now();
            const Cost before = spent();
            loader.swap(each.sets[(round + 1) % 2]);
            const Cost after = spent();
            cpu.push_back(after.cpu_us - before.cpu_us);
            faults.push_back(after.faults - before.faults);
            const std::chrono::duration<double, std::micro> took =
                std::chrono::steady_clock::now() - begin;
            loading.push_back(took.count());
        });
        adopting.push_back(microseconds(worker.seen().adopting_gap.read()));
    }
    stop.raise(true);
    thread.join();
    print_case(each.name, "the same set undisturbed", quiet.by_clock, swapping.by_clock);
    print_case(each.name, "the same, both by the worker's CPU time", quiet.by_cpu, swapping.by_cpu);
    print_gap("gap between bursts when a set is adopted", adopting);
    print_gap("gap between bursts in a quiet second", quiet_gaps);
    print_gap("from message to the old set freed", loading);
    print_median("CPU time of the thread that swaps, each swap", "us", cpu);
    print_median("page faults of the thread that swaps, each swap", "faults", faults);
}

int run(bool quick) {
    if (!start_eal()) {
        return 1;
    }
    const Case cases[] = {
        {"1,000 rules swapped every second", {message_of(1, 0, "10/s"), message_of(1, 3, "11/s")}},
        {"the same, and each packet under other rules",
         {message_of(1, 0, "10/s"), message_of(2, 0, "11/s")}}};
    PacketMill mill{PacketMill::Headers::PerSource};
    pin_to(0);
    for (const Case& each : cases) {
        measure(each, mill, quick);
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
