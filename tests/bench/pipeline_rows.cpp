#include "tests/bench/pipeline_rows.hpp"

#include <algorithm>
#include <cstdio>

namespace sluice::bench {
namespace {

constexpr std::size_t kMostKeys = 8 * PacketMill::kSources;
constexpr std::size_t kMostPoolLines = 4 * PacketMill::kSources;

}  // namespace

// The first worker only shows how many buckets there are: a table that is larger than its keys
// need costs more of the caches than one that is in use.
std::unique_ptr<BenchWorker> warm_worker(PacketMill& mill, const BenchRules& rules,
                                         std::size_t bursts) {
    std::size_t keys = 0;
    bool is_pooled = false;
    {
        BenchRules roomy = rules;
        roomy.pool_lines = kMostPoolLines;
        BenchWorker first{mill, roomy, kMostKeys};
        first.run(bursts);
        keys = first.live_keys();
        is_pooled = first.pooled() != 0;
    }
    BenchRules fitting = rules;
    // States that grow with time have room to: lines that nobody takes are in no cache.
    fitting.pool_lines = is_pooled ? kMostPoolLines : 16;
    auto worker = std::make_unique<BenchWorker>(mill, fitting, std::max<std::size_t>(keys, 1024));
    worker->run(bursts);
    return worker;
}

Side side_of(std::string name, BenchWorker& worker, std::size_t bursts) {
    return {std::move(name), [&worker, bursts] {
                return cpu_ns_per(bursts * PacketMill::kBurst, [&] { worker.run(bursts); });
            }};
}

void print_speed(std::string_view id, const std::string& name, const Side& side,
                 std::string_view reference_name, double reference) {
    std::printf(
        "{\"id\": \"%s\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"Mpps\", \"reference\": "
        "\"%s\", \"reference_value\": %.3f, \"ratio\": %.3f, \"rounds\": %s}\n",
        std::string{id}.c_str(), name.c_str(), mpps(side), std::string{reference_name}.c_str(),
        reference, mpps(side) / reference, list_of(side.rounds).c_str());
    std::fflush(stdout);
}

void print_alone(std::string_view id, const std::string& name, double value,
                 std::string_view unit) {
    std::printf("{\"id\": \"%s\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n",
                std::string{id}.c_str(), name.c_str(), value, std::string{unit}.c_str());
    std::fflush(stdout);
}

void print_alone(std::string_view id, const std::string& name, const Side& side,
                 std::string_view unit) {
    std::printf(
        "{\"id\": \"%s\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"rounds\": %s}\n",
        std::string{id}.c_str(), name.c_str(), mpps(side), std::string{unit}.c_str(),
        list_of(side.rounds).c_str());
    std::fflush(stdout);
}

void tell_stages(std::string_view id, const std::string& name, BenchWorker& worker,
                 std::size_t bursts) {
    worker.run_in_stages(bursts);
    worker.print_stages(std::string{id}.c_str(), name.c_str());
}

}  // namespace sluice::bench
