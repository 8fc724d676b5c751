#include "tests/pktgen/generator.hpp"
#include "tests/pktgen/report.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <rte_eal.h>

// sluice-pktgen: sends, receives, and says what became of it. README.md in this folder.
namespace sluice::pktgen {
namespace {

constexpr int kFailed = 1;
constexpr int kNoRatePassed = 3;
constexpr int kSignalled = 128;
// What a pause kept back would leave at full speed: its delays would be those of another load.
constexpr std::uint64_t kBacklogOfDelays = 32;  // a burst

constexpr std::int64_t kOneWish = 200'000'000;  // ns

volatile std::sig_atomic_t caught = 0;
volatile std::sig_atomic_t caught_again = 0;
std::int64_t caught_at = 0;  // of the handler alone

bool is_over() {
    return caught != 0;
}
bool is_given_up() {
    return caught_again != 0;
}

// The first ends the sending, the second the waiting for what is under way. timeout(1) sends two at
// once, to the process and to its group, and means one.
void take_signal(int number) {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t at = now.tv_sec * 1'000'000'000LL + now.tv_nsec;
    if (caught == 0) {
        caught = number;
        caught_at = at;
    } else if (at - caught_at > kOneWish) {
        caught_again = 1;
    }
}

void catch_signals() {
    struct sigaction action{};
    action.sa_handler = take_signal;
    // Neither comes while the other is taken.
    (void)::sigaddset(&action.sa_mask, SIGINT);
    (void)::sigaddset(&action.sa_mask, SIGTERM);
    (void)::sigaction(SIGINT, &action, nullptr);
    (void)::sigaction(SIGTERM, &action, nullptr);
}

void note(const std::string& text) {
    std::fprintf(stderr, "%s\n", text.c_str());
}

int fail(const Error& error) {
    note("sluice-pktgen: " + error.what);
    return kFailed;
}

Result<Done> wait_for_links(const Generator::Ports& ports, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (const EthDevice* port : {&ports.transmit, &ports.receive}) {
        while (!port->has_link() && !is_over()) {
            if (std::chrono::steady_clock::now() > end) {
                return Error{
                    Errc::Unreachable,
                    "port " + port->name + " has no link; is there anybody at its other end?"};
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }
    return Done{};
}

// Waits so long after link up: the peer polls the state of its links. Ends at a signal.
void settle(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end && !is_over()) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
}

Result<Generator::Ports> open_ports(const Options& options) {
    const Result<rte_mempool*> buffers = make_buffers(options);
    if (!buffers) {
        return buffers.error();
    }
    const Result<EthDevice> transmit = EthDevice::start(options.transmit, options.queues, *buffers);
    if (!transmit) {
        return transmit.error();
    }
    if (options.receive == options.transmit) {
        return Generator::Ports{*transmit, *transmit, *buffers, options.queues};
    }
    const Result<EthDevice> receive = EthDevice::start(options.receive, options.queues, *buffers);
    if (!receive) {
        return receive.error();
    }
    return Generator::Ports{*transmit, *receive, *buffers, options.queues};
}

void close_ports(const Generator::Ports& ports) {
    ports.transmit.stop();
    if (ports.receive.id != ports.transmit.id) {
        ports.receive.stop();
    }
}

// `line` as bits a second.
Result<Rate> resolve(const Rate& rate, const EthDevice& port) {
    if (rate.unit != Rate::Unit::Line) {
        return rate;
    }
    const std::uint32_t speed = port.link_speed();
    if (speed == 0) {
        return Error{
            Errc::NotSupported,
            "port " + port.name + " does not know its link's speed: give --rate 10Gbit or such"};
    }
    return Rate{Rate::Unit::Bits, speed * 1e6};
}

// What was sent until the user ended it is what was asked for, where nothing else would have ended
// it.
int exit_of(const Options& options, bool interrupted) {
    const bool is_open_ended = options.mode == Mode::Run && !options.duration && !options.count;
    return interrupted && !is_open_ended ? kSignalled + caught : 0;
}

// Not counted: what a table holds after it is what the counted frames find.
void warm_up(const Options& options, Generator& generator, Directions& traffic, bool is_probed) {
    if (options.warm_up != 0) {
        (void)generator.run({.count = options.warm_up, .linger = options.linger}, traffic,
                            is_probed, [](const Trial&) {});
    }
}

int run_once(const Options& options, Generator& generator, Directions& traffic, const Rate& rate) {
    TrialPlan plan{.rate = rate,
                   .backlog = options.backlog,
                   .drops_refused = options.drops_refused,
                   .linger = options.linger};
    plan.seconds = options.duration.value_or(plan.seconds);
    plan.count = options.count.value_or(plan.count);
    const Trials trials = generator.run(plan, traffic, options.traffic.is_probed,
                                        [](const Trial& now) { note(progress_text(now)); });
    std::fputs((options.is_json ? report_json(options, trials) : report_text(trials)).c_str(),
               stdout);
    return exit_of(options, trials.there->interrupted);
}

struct SearchTraffic {
    Directions plain;
    std::optional<Directions> probed;  // where the frames have room
};

Result<Directions> make_directions(const Options& options, TrafficPlan plan) {
    Result<Traffic> there = Traffic::make(plan);
    if (!there) {
        return there.error();
    }
    if (!options.is_bidirectional) {
        return Directions{*std::move(there), std::nullopt};
    }
    plan.route.is_back = true;
    Result<Traffic> back = Traffic::make(plan);
    if (!back) {
        return back.error();
    }
    return Directions{*std::move(there), *std::move(back)};
}

Result<SearchTraffic> make_search_traffic(const Options& options) {
    Result<Directions> plain = make_directions(options, options.traffic);
    if (!plain) {
        return plain.error();
    }
    TrafficPlan with_probe = options.traffic;
    with_probe.is_probed = true;
    Result<Directions> probed = make_directions(options, with_probe);
    if (!probed && options.is_throughput_alone) {
        return SearchTraffic{*std::move(plain), std::nullopt};
    }
    if (!probed) {
        return Error{probed.error().code, probed.error().what + "; or give --throughput-only"};
    }
    return SearchTraffic{*std::move(plain), *std::move(probed)};
}

Rate packets(double per_second) {
    return per_second == 0 ? Rate{} : Rate{Rate::Unit::Packets, per_second};
}

void quietly(const Trial&) {}

TrialPlan trial_plan(const Options& options, double frames_per_second) {
    return {.rate = packets(frames_per_second),
            .seconds = options.trial,
            .backlog = options.backlog,
            .drops_refused = options.drops_refused,
            .linger = options.linger};
}

SearchPlan search_plan(const Options& options, const Rate& highest, double frame_bits) {
    return {.highest = highest.unit == Rate::Unit::Bits ? highest.per_second / frame_bits
                                                        : highest.per_second,
            .tolerance = options.tolerance / 100,
            .loss = options.loss / 100,
            .repeats = options.repeats};
}

int run_search(const Options& options, Generator& generator, SearchTraffic& traffic,
               const Rate& highest) {
    const double bits = traffic.plain.there.mean_wire_bits();
    const bool is_probed = traffic.probed.has_value();
    Directions& sent = is_probed ? *traffic.probed : traffic.plain;
    const auto try_rate = [&](double rate) {
        const TrialOutcome outcome =
            generator.run(trial_plan(options, rate), sent, is_probed, quietly).outcome();
        note(progress_text(outcome));
        return outcome;
    };
    SearchReport report{
        .result = search_throughput(search_plan(options, highest, bits), try_rate, is_over),
        .mean_wire_bits = bits,
        .is_probed = is_probed};
    for (const double share : {0.5, 0.9}) {
        if (!options.is_throughput_alone && report.result.rate > 0 && !is_over()) {
            TrialPlan plan = trial_plan(options, report.result.rate * share);
            plan.backlog = std::min(plan.backlog, kBacklogOfDelays);
            report.delays.push_back({share, generator.run(plan, *traffic.probed, true, quietly)});
        }
    }
    std::fputs((options.is_json ? report_json(options, report) : report_text(report)).c_str(),
               stdout);
    if (is_over()) {
        return exit_of(options, true);
    }
    return report.result.rate > 0 ? 0 : kNoRatePassed;
}

int with_ports(const Options& options, SearchTraffic& traffic, const Generator::Ports& ports) {
    if (const Result<Done> up = wait_for_links(ports, options.wait); !up) {
        return fail(up.error());
    }
    const Result<Rate> rate = resolve(options.rate, ports.transmit);
    if (!rate) {
        return fail(rate.error());
    }
    settle(options.settle);
    Generator generator{ports, {is_over, is_given_up}};
    if (traffic.probed) {
        warm_up(options, generator, *traffic.probed, true);
    } else {
        warm_up(options, generator, traffic.plain, options.traffic.is_probed);
    }
    return options.mode == Mode::Search ? run_search(options, generator, traffic, *rate)
                                        : run_once(options, generator, traffic.plain, *rate);
}

Result<SearchTraffic> make_traffic(const Options& options) {
    if (options.mode == Mode::Search) {
        return make_search_traffic(options);
    }
    Result<Directions> traffic = make_directions(options, options.traffic);
    if (!traffic) {
        return traffic.error();
    }
    return SearchTraffic{*std::move(traffic), std::nullopt};
}

int run(const Options& options) {
    Result<SearchTraffic> traffic = make_traffic(options);
    if (!traffic) {
        note("sluice-pktgen: " + traffic.error().what);
        return kBadUsage;
    }
    catch_signals();
    if (const Result<Done> started = start_eal_for(options); !started) {
        return fail(started.error());
    }
    const Result<Generator::Ports> ports = open_ports(options);
    if (!ports) {
        (void)rte_eal_cleanup();
        return fail(ports.error());
    }
    const int exit = with_ports(options, *traffic, *ports);
    close_ports(*ports);
    (void)rte_eal_cleanup();
    return exit;
}

}  // namespace
}  // namespace sluice::pktgen

int main(int argc, char** argv) {
    using namespace sluice::pktgen;
    const auto read = read_options(argc, argv);
    if (const auto* printed = std::get_if<Printed>(&read)) {
        std::fputs(printed->text.c_str(), printed->exit == 0 ? stdout : stderr);
        return printed->exit;
    }
    const int exit = run(std::get<Options>(read));
    if (std::fflush(stdout) != 0) {
        std::perror("sluice-pktgen: cannot write to standard output");
        return exit == 0 ? 1 : exit;
    }
    return exit;
}
