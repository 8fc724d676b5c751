#include "lib/respond/act/act_burst.hpp"
#include "tests/bench/http_heads.hpp"
#include "tests/bench/request_rows.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace sluice::bench {
namespace {

using test::Octets;

constexpr std::size_t kRequests = PacketMill::kMbufs * PacketMill::kStreams;
constexpr std::size_t kBursts = kRequests / PacketMill::kBurst;
// Requests of one pass come within less than the silence after which connections are forgotten.
constexpr double kStep = 0.5 * static_cast<double>(AnsweredConnections::kSilence.count()) / kBursts;

// Every request is refused: nothing refills a bucket of one in the time that this takes.
std::string rules_with(std::string_view action) {
    return "version: 1\nrules:\n  - {id: api, mode: enforce, key: [l4.dport], per: request, "
           "limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: " +
           std::string{action} + "}}\n";
}

// Frames that are made go to buffers in turn, as many as a port has on their way.
class Buffers {
public:
    void forward(std::size_t /*row*/) noexcept {}
    void drop(std::size_t /*row*/) noexcept {}
    template <typename Write>
    [[nodiscard]] bool rewrite(std::size_t /*row*/, Write&& /*write*/) noexcept {
        return true;
    }
    template <typename Write>
    [[nodiscard]] bool emit(std::size_t /*row*/, Toward /*side*/, std::size_t size,
                            Write&& write) noexcept {
        write(MutableBytes{buffers_[next_]}.first(size));
        next_ = (next_ + 1) % buffers_.size();
        return true;
    }

private:
    std::vector<std::array<std::byte, 2048>> buffers_ =
        std::vector<std::array<std::byte, 2048>>(4096);
    std::size_t next_ = 0;
};

Octets request_of(std::size_t number, std::mt19937_64& random) {
    const std::string text = usual_get_of(random, random_word(random, 3, 8));
    const ByteView bytes = bytes_of(text);
    return test::tcp()
        .src("10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256))
        .sport(static_cast<std::uint16_t>(20'000 + number))
        .dport(80)
        .seq(static_cast<std::uint32_t>(number * 977))
        .ack(1)
        .flags(0x18)
        .carries({bytes.begin(), bytes.end()})
        .bytes();
}

// A worker whose decisions are carried out.
class AnsweringStation {
public:
    explicit AnsweringStation(std::string_view action)
        : random_{9},
          mill_{PacketMill::Headers::Streams,
                [this](std::size_t number) { return request_of(number, random_); }},
          worker_{mill_, rules_with(action), 1024} {
        worker_.find_units_by(parser_.finder());
        worker_.know_answered(answerer_.answered());
        worker_.set_step(kStep);
        worker_.after_burst([this](const Burst& burst, Instant now) { act(burst, now); });
        (void)measure(1);
    }
    // CPU nanoseconds of a request. Every pass is of new connections, whose SYNs are not timed.
    [[nodiscard]] double measure(std::size_t passes) {
        double nanoseconds = 0;
        for (std::size_t pass = 0; pass < passes; ++pass) {
            worker_.wait(2 * AnsweredConnections::kSilence);
            worker_.open_streams();
            nanoseconds += cpu_ns_per(kRequests, [this] { worker_.run(kBursts); });
        }
        return nanoseconds / static_cast<double>(passes);
    }
    [[nodiscard]] BenchWorker& worker() noexcept { return worker_; }
    [[nodiscard]] std::uint64_t count(AnswerEvent event) const noexcept {
        return events_[static_cast<std::size_t>(event)];
    }

private:
    // The burst is the worker's own, which hands it out to be looked at.
    void act(const Burst& burst, Instant now) {
        const LoadedSet& set = worker_.rules();
        const Answering answering{answerer_,
                                  {.actions = set.actions,
                                   .plan = set.answers,
                                   .load = set.load,
                                   .now = now,
                                   .hash = worker_.hash(),
                                   .follows = set.meter_plan.answers}};
        auto& answered = const_cast<Burst&>(burst);
        answered.note_handshakes(Handshake::Completed, burst.live());
        act_burst(answered, set.actions, buffers_, &answering);
        answerer_.take_events(
            [this](std::size_t event, std::uint32_t times) { events_[event] += times; });
    }

    std::mt19937_64 random_;
    PacketMill mill_;
    UnitParser parser_{kRoomy};
    BenchWorker worker_;
    AnswerBoards boards_;
    Answerer answerer_{2 * kRequests, boards_};
    Buffers buffers_;
    std::array<std::uint64_t, kAnswerEventCount> events_{};
};

}  // namespace

void measure_answers(const Effort& effort) {
    AnsweringStation replies{"reply"};
    AnsweringStation drops{"drop"};
    const std::size_t passes = effort.packets() / kRequests;
    std::vector<Side> sides{{"answered 429", [&] { return replies.measure(passes); }},
                            {"dropped", [&] { return drops.measure(passes); }}};
    run_rounds(sides, kRounds);
    check_units(replies.worker(), UnitEvent::HttpRequest, 1);
    const std::uint64_t replied = replies.count(AnswerEvent::Replied);
    std::fprintf(stderr, "  A1 %.3f of the requests had a response\n",
                 static_cast<double>(replied) / static_cast<double>(replies.worker().packets()));
    if (replied * 10 < replies.worker().packets() * 9) {
        std::exit(1);
    }
    print_beside("A1", "refused requests of HTTP/1, each of a new connection", "M answers/s",
                 sides[0], sides[1]);
}

}  // namespace sluice::bench
