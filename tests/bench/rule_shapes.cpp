#include "tests/bench/pipeline_rows.hpp"

#include <string>
#include <vector>

namespace sluice::bench {
namespace {

struct Shape {
    const char* name;
    std::string rules;  // what stands under `rules:`
    PacketMill::Mix mix = PacketMill::Mix::Usual;
};

std::string rule(const std::string& rest) {
    return "  - {id: r, mode: enforce, " + rest + "}\n";
}
std::string limit(const std::string& numbers) {
    return "limits: [{algorithm: " + numbers + "}]";
}

// None of them refuses a packet.
std::vector<Shape> all_shapes() {
    const std::string bucket = limit("token_bucket, rate: 10/s, burst: 1M");
    const std::string wide = limit("token_bucket, rate: 1000/s, burst: 100M");
    const std::string by_source = "key: [ip.src], ";
    const std::string one = rule(by_source + bucket);
    return {
        {"(a) one condition", rule("when: 'dir eq \"in\"', " + by_source + bucket)},
        {"(b) key of two parts", rule("key: [ip.src, l4.dport], " + bucket)},
        {"(c) tiers /32 and /24", rule("tiers: [{" + by_source + bucket +
                                       "}, {key: ['prefix(ip.src, 24|64)'], " + wide + "}]")},
        {"(d) sliding_window", rule(by_source + limit("sliding_window, count: 1M, window: 10s"))},
        {"(e) fixed_window", rule(by_source + limit("fixed_window, count: 1M, window: 10s"))},
        {"(f) sliding_counters",
         rule(by_source + limit("sliding_counters, count: 1M, window: 10s"))},
        {"(g) per byte",
         rule("per: byte, " + by_source + limit("token_bucket, rate: 700B/s, burst: 50MB"))},
        {"(h) an allow rule before it",
         "  - {id: a, mode: enforce, when: 'ip.src in {192.0.2.0/24 198.51.100.0/24}', "
         "on_match: allow}\n" +
             one},
        {"(i) two rules", one + "  - {id: s, mode: enforce, " + by_source + bucket + "}\n"},
        {"(j) IPv6 sources", one, PacketMill::Mix::Ipv6},
        {"(k) distinct", rule(by_source + limit("distinct, of: l4.dport, count: 100, window: 1m"))},
    };
}

}  // namespace

void measure_shapes(const PipelineRun& run) {
    PacketMill usual{PacketMill::Headers::PerSource};
    PacketMill ipv6{PacketMill::Headers::PerSource, PacketMill::Mix::Ipv6};
    const std::size_t bursts = run.bursts();
    std::vector<std::unique_ptr<BenchWorker>> workers;
    std::vector<Side> sides;
    const auto add = [&](PacketMill& mill, const std::string& name, std::string_view rules) {
        workers.push_back(warm_worker(mill, {.text = rules}, bursts));
        sides.push_back(side_of(name, *workers.back(), bursts));
    };
    add(usual, "P1", kOneRule);
    for (const Shape& shape : all_shapes()) {
        add(shape.mix == PacketMill::Mix::Ipv6 ? ipv6 : usual, shape.name,
            "version: 1\nrules:\n" + shape.rules);
    }
    run_rounds(sides, kRounds);
    for (std::size_t i = 1; i < sides.size(); ++i) {
        print_speed("P6", sides[i].name, sides[i], "P1", mpps(sides[0]));
        if (workers[i]->refused() != 0) {
            print_alone("P6", sides[i].name + ": refused, of none that should be",
                        static_cast<double>(workers[i]->refused()), "packets");
        }
        if (workers[i]->without_room() != 0) {
            print_alone("P6", sides[i].name + ": states without room, where there should be",
                        static_cast<double>(workers[i]->without_room()), "times");
        }
    }
    for (std::size_t i = 0; i < sides.size(); ++i) {
        tell_stages("P6", sides[i].name, *workers[i], bursts / 4);
    }
}

}  // namespace sluice::bench
