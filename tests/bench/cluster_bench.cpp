#include "dataplane/store/store_batches.hpp"
#include "lib/rules/box_config.hpp"
#include "tests/bench/bench_worker.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/unit/dataplane/store/tiny_store.hpp"

#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

// D6: the pipeline of one worker whose keys the boxes of a cluster share by a store, beside the
// same pipeline with keys of its box. What is done for the store outside the worker is no time of
// its own. Prints one JSON object a line.
namespace sluice::bench {
namespace {

constexpr std::size_t kMachines = 3;
constexpr std::uint64_t kBudget = 200'000;  // keys a second, as by default

struct Shape {
    const char* name;
    const char* rules;
    std::size_t room;  // keys
};

// Records of a worker are no more, and where fewer than a quarter are free none is lent.
constexpr std::size_t kHalfFull = 2'000'000;

constexpr const char* kAdmits = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";
constexpr const char* kRefuses = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 32}]
)yaml";

// As P1's: every bucket stays live.
constexpr Shape kShapes[] = {
    {"2^20 keys, half of the room, all admitted", kAdmits, kHalfFull},
    {"2^20 keys, all of the room, all admitted", kAdmits, PacketMill::kSources},
    {"2^20 keys, half of the room, most refused", kRefuses, kHalfFull},
};

class Bench {
public:
    Bench(const Shape& shape, std::size_t packets)
        : shape_{shape},
          packets_{packets},
          shared_{mill_, shape.rules, shape.room},
          local_{mill_, shape.rules, shape.room} {
        lanes_.open_store({.machines = kMachines});
        shared_.share_with_boxes(lanes_, kMachines);
        shared_.before_burst([this](Instant now) { speak_for_the_store(now); });
    }

    void run() {
        const std::size_t bursts = packets_ / PacketMill::kBurst;
        local_.run(bursts);
        shared_.run(bursts);
        std::vector<Side> sides{{"cluster", [&] { return ns_of(shared_, bursts); }},
                                {"box", [&] { return ns_of(local_, bursts); }}};
        run_rounds(sides, kRounds);
        const Ledger& ledger = *shared_.ledger();
        std::printf(
            "{\"id\": \"D6\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"Mpps\", "
            "\"reference\": \"scope: box\", \"reference_value\": %.3f, \"ratio\": %.3f, "
            "\"rounds\": %s, \"reference_rounds\": %s, \"dropped\": %.4f, "
            "\"reference_dropped\": %.4f, \"told\": %lu, \"answered\": %lu, \"put_off\": %lu}\n",
            shape_.name, 1000 / sides[0].median(), 1000 / sides[1].median(),
            sides[1].median() / sides[0].median(), list_of(sides[0].rounds).c_str(),
            list_of(sides[1].rounds).c_str(), shared_.dropped(), local_.dropped(),
            static_cast<unsigned long>(ledger.counters().read(LedgerEvent::StoreSent)),
            static_cast<unsigned long>(batches_.counts().answered),
            static_cast<unsigned long>(batches_.counts().put_off));
    }

private:
    static constexpr int kRounds = 5;

    double ns_of(BenchWorker& worker, std::size_t bursts) {
        elsewhere_ = 0;
        const double ns = cpu_ns_per(1, [&] { worker.run(bursts); });
        return (ns - elsewhere_) / static_cast<double>(packets_);
    }
    // The relay and the store, which answers at once, in turns of 100 us of the worker's clock.
    void speak_for_the_store(Instant now) {
        if (now < next_) {
            return;
        }
        next_ = now + std::chrono::microseconds{100};
        elsewhere_ += cpu_ns_per(1, [&] {
            const Nanoseconds at = now.time_since_epoch();
            StoreLane& lane = *lanes_.store(0);
            batches_.take(0, lane, at);
            while (const StoreBatch* batch = batches_.next_to_say(at)) {
                const auto now_us = static_cast<std::uint64_t>(at.count() / 1'000);
                batches_.settle(store_.sync(0, *batch, now_us), at);
            }
            batches_.deliver(0, lane);
            note_budget(at);
        });
    }
    // As the relay does: the budget is used up where amounts have been put off for 300 ms.
    void note_budget(Nanoseconds at) {
        constexpr Nanoseconds kLong = std::chrono::milliseconds{300};
        if (batches_.counts().put_off != put_off_) {
            put_off_ = batches_.counts().put_off;
            short_at_ = at;
            short_since_ = short_since_.value_or(at);
        } else if (at - short_at_ >= kLong) {
            short_since_.reset();
        }
        lanes_.store_over_budget().raise(short_since_ && at - *short_since_ >= kLong);
    }

    const Shape& shape_;
    std::size_t packets_;
    Links links_{1, {}};
    DeltaLanes lanes_{links_};
    StoreBatches batches_{1, kBudget};
    test::TinyStore store_;
    PacketMill mill_;
    BenchWorker shared_;
    BenchWorker local_;
    Instant next_{};
    std::uint64_t put_off_ = 0;
    std::optional<Nanoseconds> short_since_;
    Nanoseconds short_at_{};
    double elsewhere_ = 0;  // ns
};

int run(bool quick) {
    if (!start_eal()) {
        return 1;
    }
    for (const Shape& shape : kShapes) {
        Bench{shape, quick ? std::size_t{1} << 23 : std::size_t{1} << 25}.run();
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
