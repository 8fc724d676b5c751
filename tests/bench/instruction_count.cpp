#include "lib/base/read_file.hpp"
#include "lib/watch/heatmap/heat_collector.hpp"
#include "tests/bench/mac_swap.hpp"
#include "tests/bench/pipeline_rows.hpp"
#include "tests/bench/request_rows.hpp"
#include "tests/bench/rte_reference.hpp"

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include <valgrind/callgrind.h>

// I1: instructions of a packet's whole way through the pipeline, for shapes of rules, counted by
// callgrind: `valgrind --tool=callgrind --instr-atstart=no PROGRAM RULE_FILE`. It writes one
// profile for each shape, with the shape's name in its trigger, and one for the floor that is to be
// subtracted: the mill and a MAC swap. Counts repeat from run to run and from machine to machine,
// as times do not. Prints how many packets each profile is of.
namespace sluice::bench {
namespace {

struct Shape {
    const char* name;
    std::string_view rules;
};
constexpr Shape kShapes[] = {
    {"one rule", kOneRule},
    {"one rule, most refused", R"yaml(version: 1
rules:
  - {id: r, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 3/s, burst: 1}]}
)yaml"},
    {"tiers /32 and /24", R"yaml(version: 1
rules:
  - id: r
    mode: enforce
    tiers:
      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]}
      - {key: ["prefix(ip.src, 24|64)"], limits: [{algorithm: token_bucket, rate: 1000/s, burst: 100M}]}
)yaml"},
    {"sliding_window", R"yaml(version: 1
rules:
  - {id: r, mode: enforce, key: [ip.src], limits: [{algorithm: sliding_window, count: 1M, window: 10s}]}
)yaml"},
};

// P1's rule with a heat map.
constexpr std::string_view kOneRuleWithMap = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    heatmap: on
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";

// A rule over few sources beside P1's, which refuses them and notes it, and bans nobody: other
// sources are looked up for nothing where its bans would hold for all that they send.
std::string beside_ban(const std::string& applies_to) {
    return std::string{kOneRule} +
           "  - {id: few, mode: enforce, when: 'ip.src in {10.0.0.0/28}', key: [ip.src], limits: "
           "[{algorithm: fixed_window, count: 1, window: 1h}], ban: {after: 1000, within: 1h, for: "
           "1h, applies_to: " +
           applies_to + "}}\n";
}

constexpr std::size_t kCounted = (std::size_t{1} << 16) / PacketMill::kBurst;
constexpr std::size_t kFlows = std::size_t{1} << 18;
constexpr std::size_t kWarm = 4 * kFlows / PacketMill::kBurst;
constexpr std::size_t kWarmRequests = (std::size_t{1} << 17) / PacketMill::kBurst;
constexpr std::size_t kKeys = 5 * kFlows;
constexpr std::size_t kMostText = 1U << 20;
constexpr std::size_t kPoolLines = 3 * kFlows;

void count(const char* shape, const std::function<void(std::size_t bursts)>& run) {
    CALLGRIND_ZERO_STATS;
    CALLGRIND_START_INSTRUMENTATION;
    run(kCounted);
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(shape);
    std::printf("%s\t%zu\n", shape, kCounted * PacketMill::kBurst);
}

void count_flows(const char* shape, PacketMill& mill, std::string_view rules) {
    BenchWorker worker{mill, BenchRules{.text = rules, .pool_lines = kPoolLines}, kKeys};
    worker.run(kWarm);
    count(shape, [&](std::size_t bursts) { worker.run(bursts); });
}

// Under a heat map whose epochs have shown how many keys there are.
void count_map(PacketMill& mill) {
    HeatSampler heat;
    BenchWorker worker{mill, kOneRuleWithMap, kKeys};
    HeatCollector collector{{&heat}};
    worker.watch(heat);
    collector.adopt(worker.rules(), 1);
    for (int epoch = 0; epoch < 8; ++epoch) {
        worker.run(kWarm / 8);
        worker.wait(HeatCollector::kEpoch);
        for (int step = 0; step < 2; ++step) {
            collector.tick(worker.now(), [](std::uint64_t) { return std::string{}; });
            worker.begin_turn();
        }
    }
    count("one rule with a heat map", [&](std::size_t bursts) { worker.run(bursts); });
}

void count_requests() {
    PlainRequests requests;
    BenchWorker& worker = requests.worker;
    worker.run(kWarmRequests);
    count("requests by source and host", [&](std::size_t bursts) { worker.run(bursts); });
    check_units(worker, UnitEvent::HttpRequest, 1);
}

// A frame of either direction counts as a packet.
void count_service(const char* shape, ExchangeWorker& exchange) {
    exchange.worker.run(kWarmRequests);
    count(shape, [&](std::size_t bursts) { exchange.worker.run(bursts); });
}

void count_services() {
    const std::string rules = HttpRules{0}.text;
    count_service("requests and answers", *answered_requests(rules));
    const std::unique_ptr<ExchangeWorker> service = answered_requests(with_service(rules));
    count_service("requests and answers of a service", *service);
    check_units(service->worker, UnitEvent::HttpRequest, 0.5);
    count_service("no payload, of a service", *bare_acknowledgements(with_service(rules)));
}

int run(const std::string& rule_file) {
    const Result<std::optional<std::string>> scrubbing = read_whole_file(rule_file, kMostText);
    if (!scrubbing || !*scrubbing) {
        std::fprintf(stderr, "cannot read %s\n", rule_file.c_str());
        return 1;
    }
    if (!start_eal()) {
        return 1;
    }
    PacketMill flows{PacketMill::Headers::PerSource};
    flows.draw_from(kFlows);
    count("floor", [&](std::size_t bursts) { swap_addresses(flows, bursts); });
    for (const Shape& shape : kShapes) {
        count_flows(shape.name, flows, shape.rules);
    }
    count_map(flows);
    count_flows("scrubbing.yaml", flows, **scrubbing);
    count_flows("one rule beside bans of keys", flows, beside_ban("key"));
    count_flows("one rule beside bans of sources", flows, beside_ban("source, spoofable: yes"));
    PacketMill not_ip{PacketMill::Headers::Source, PacketMill::Mix::NotIp};
    count_flows("frames that are not IP", not_ip, kOneRule);
    PacketMill malformed{PacketMill::Headers::Source, PacketMill::Mix::Malformed};
    count_flows("malformed frames", malformed, kOneRule);
    count_requests();
    count_services();
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: instruction_count RULE_FILE\n");
        return 2;
    }
    return sluice::bench::run(arguments[1]);
}
