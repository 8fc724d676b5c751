#include "tests/bench/bench_worker.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/rule_mix.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

// P3 and P4: a thousand and ten thousand rules of which every packet matches two, beside two rules
// that always match. Prints one JSON object a line.
namespace sluice::bench {
namespace {

// Lives long: every bucket of the 2^20 sources stays.
const std::string kSlow = "[{algorithm: token_bucket, rate: 10/s, burst: 1M}]";
// Over within a burst: sources that come once leave room for the next ones.
const std::string kQuick = "[{algorithm: token_bucket, rate: 1M/s, burst: 1M}]";

struct Case {
    const char* name;
    PacketMill::Headers headers;
    const std::string& limits;
    std::size_t keys;
};
const Case kCases[] = {
    {"2^20 flows", PacketMill::Headers::PerSource, kSlow, 2 * PacketMill::kSources},
    {"random sources", PacketMill::Headers::AnySource, kQuick, PacketMill::kSources},
};

struct Size {
    const char* id;
    const char* name;
    std::size_t rules;
};
constexpr Size kSizes[] = {{"P3", "1,000 rules", 1'000}, {"P4", "10,000 rules", 10'000}};

void print_classifier(const Size& size, const LoadedSet& set, double seconds) {
    const ClassifierParts& parts = set.classifier->parts();
    std::printf(
        "{\"id\": \"%s\", \"case\": \"classifier of %s\", \"clauses\": %zu, \"dimensions\": %zu, "
        "\"bytes\": %zu, \"compiled_in_s\": %.3f}\n",
        size.id, size.name, parts.rule_of.size(), parts.dimensions.size(), set.classifier->bytes(),
        seconds);
}

// Ends the program if the mix does not hold what it promises.
void check_matches(const BenchWorker& worker) {
    if (std::abs(worker.matches_per_packet() - 2) > 1e-9 || worker.refused() != 0) {
        std::fprintf(stderr, "%.9f rules match a packet, and %lu are refused\n",
                     worker.matches_per_packet(), worker.refused());
        std::exit(1);
    }
}

std::unique_ptr<BenchWorker> worker_for(PacketMill& mill, const std::string& rules,
                                        std::size_t keys, std::size_t bursts) {
    auto worker = std::make_unique<BenchWorker>(mill, rules, keys);
    worker->run(bursts);
    check_matches(*worker);
    return worker;
}

void measure(const Case& each, bool quick) {
    PacketMill mill{each.headers};
    const std::size_t packets = quick ? std::size_t{1} << 22 : std::size_t{1} << 24;
    const std::size_t bursts = packets / BenchWorker::kBurst;
    std::vector<std::unique_ptr<BenchWorker>> workers;
    std::vector<Side> sides;
    const auto add = [&](const char* name, const std::string& rules) {
        workers.push_back(worker_for(mill, rules, each.keys, bursts));
        BenchWorker& worker = *workers.back();
        sides.push_back({name, [&worker, packets, bursts] {
                             return ns_per(packets, [&] { worker.run(bursts); });
                         }});
    };
    add("two rules", two_rules(each.limits));
    for (const Size& size : kSizes) {
        const auto begin = std::chrono::steady_clock::now();
        add(size.name, mixed_rules(size.rules, each.limits, 1));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        print_classifier(size, workers.back()->rules(), took.count());
    }
    run_rounds(sides, 5);
    for (std::size_t i = 1; i < sides.size(); ++i) {
        std::printf(
            "{\"id\": \"%s\", \"case\": \"%s, %s\", \"value\": %.3f, \"unit\": \"Mpps\", "
            "\"reference\": \"two rules that always match\", \"reference_value\": %.3f, \"ratio\": "
            "%.3f, \"rounds\": %s, \"plot\": \"rules\", \"x\": %zu, \"series\": \"%s\"}\n",
            kSizes[i - 1].id, sides[i].name.c_str(), each.name, 1000 / sides[i].median(),
            1000 / sides[0].median(), sides[0].median() / sides[i].median(),
            list_of(sides[i].rounds).c_str(), kSizes[i - 1].rules, each.name);
    }
    for (std::size_t i = 0; i < workers.size(); ++i) {
        check_matches(*workers[i]);
        workers[i]->run_in_stages(bursts / 4);
        workers[i]->print_stages("P3, P4", (sides[i].name + ", " + each.name).c_str());
    }
}

int run(bool quick) {
    if (!start_eal()) {
        return 1;
    }
    for (const Case& each : kCases) {
        measure(each, quick);
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
