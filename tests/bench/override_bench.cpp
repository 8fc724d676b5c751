#include "tests/bench/bench_worker.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

// L3: what a million overrides of a rule cost a packet, through all stages, beside the same rule
// without any, and beside one random access to memory. Prints one JSON object a line.
namespace sluice::bench {
namespace {

constexpr std::uint64_t kSources = PacketMill::kSources;
constexpr std::uint32_t kFirstSource = 10U << 24;  // as the mill has them
constexpr std::uint32_t kFirstOther = 172U << 24;  // whom no packet is from
constexpr std::size_t kPoolLines = 2 * kSources;
constexpr std::string_view kLimits = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";

// What is said of a source by its number.
enum class Said : std::uint8_t { Nothing, Numbers, Exempt };

void add_key(std::string& text, std::uint32_t address, Said said, std::uint64_t number) {
    if (said == Said::Nothing) {
        return;
    }
    char line[96];
    const unsigned bytes[] = {address >> 24, address >> 16 & 255, address >> 8 & 255,
                              address & 255};
    const int head =
        std::snprintf(line, sizeof(line), "%u.%u.%u.%u,", bytes[0], bytes[1], bytes[2], bytes[3]);
    const auto left = static_cast<std::size_t>(head);
    if (said == Said::Exempt) {
        std::snprintf(line + left, sizeof(line) - left, "exempt,,,,,\n");
    } else {
        // Of each key its own, and slower than its packets come: every bucket stays live.
        std::snprintf(line + left, sizeof(line) - left, "1,%llu/s,%llu,,,\n",
                      static_cast<unsigned long long>(1 + number % 20),
                      static_cast<unsigned long long>(1'000'000 + number));
    }
    text += line;
}

// A file of 2^20 keys: so many of the mill's sources, and others for the rest.
template <typename OfSource>
std::string override_file(OfSource of_source) {
    std::string text = "key,limit,rate,burst,count,expires,reason\n";
    std::uint64_t others = 0;
    for (std::uint64_t number = 0; number < kSources; ++number) {
        const Said said = of_source(number);
        others += said == Said::Nothing ? 1 : 0;
        add_key(text, kFirstSource + static_cast<std::uint32_t>(number), said, number);
    }
    for (std::uint64_t number = 0; number < others; ++number) {
        add_key(text, kFirstOther + static_cast<std::uint32_t>(number),
                number % 8 == 0 ? Said::Exempt : Said::Numbers, number);
    }
    return text;
}

struct Case {
    const char* name;
    Said (*of_source)(std::uint64_t number);
};
const Case kCases[] = {
    {"packets of other keys", [](std::uint64_t) { return Said::Nothing; }},
    {"half of the packets: own numbers, one in sixteen: exempt",
     [](std::uint64_t number) {
         return number % 16 == 0 ? Said::Exempt : number % 2 == 0 ? Said::Nothing : Said::Numbers;
     }},
    {"all packets: own numbers", [](std::uint64_t) { return Said::Numbers; }},
    {"all packets: exempt", [](std::uint64_t) { return Said::Exempt; }},
};

std::unique_ptr<BenchWorker> worker_for(PacketMill& mill, const Case& each) {
    const auto csv = std::make_shared<const std::string>(override_file(each.of_source));
    const ListReader files = [&csv](const std::string&) -> Result<ListFile> {
        return ListFile{"o.csv", csv};
    };
    const std::string text = std::string{kLimits} + "    overrides: {file: o.csv}\n";
    std::unique_ptr<BenchWorker> worker;
    const double took = cpu_ns_per(1, [&] {
        worker = std::make_unique<BenchWorker>(
            mill, BenchRules{.text = text, .files = &files, .pool_lines = kPoolLines}, kSources);
    });
    const OverrideTable& table = *worker->rules().rules.front().override_tables.front();
    std::printf(
        "{\"id\": \"L3\", \"case\": \"loading: %s\", \"ms\": %.1f, \"keys\": %zu, "
        "\"table_bytes\": %zu}\n",
        each.name, took / 1e6, table.all().keys.front().rows.size(), table.bytes());
    return worker;
}

void print(const Case& each, const Side& with, const Side& without, const Side& roof) {
    const double added = with.median() - without.median();
    std::printf(
        "{\"id\": \"L3\", \"case\": \"2^20 overrides, %s\", \"value\": %.3f, "
        "\"unit\": \"ns added per packet\", \"reference\": \"one roof access\", "
        "\"reference_value\": %.3f, \"ratio\": %.3f, \"without\": %.3f, \"rounds\": %s}\n",
        each.name, added, roof.median(), added / roof.median(), without.median(),
        list_of(with.rounds).c_str());
}

// Ends the program if packets did not meet what the case says.
void check(const Case& each, const BenchWorker& worker) {
    std::size_t numbers = 0;
    bool exempt = false;
    for (std::uint64_t number = 0; number < kSources; ++number) {
        numbers += each.of_source(number) == Said::Numbers ? 1 : 0;
        exempt = exempt || each.of_source(number) == Said::Exempt;
    }
    // A few sources are left out by chance, and IPv6 packets are of other keys.
    const bool pooled = worker.pooled() <= numbers && worker.pooled() * 10 >= numbers * 9;
    if (!pooled || (worker.exempted() != 0) != exempt || worker.refused() != 0) {
        std::fprintf(stderr, "%s: %zu buckets of own numbers, %llu exempt, %llu refused\n",
                     each.name, worker.pooled(), static_cast<unsigned long long>(worker.exempted()),
                     static_cast<unsigned long long>(worker.refused()));
        std::exit(1);
    }
}

int run(bool quick) {
    if (!start_eal()) {
        return 1;
    }
    PacketMill mill;
    const std::size_t packets = quick ? std::size_t{1} << 22 : std::size_t{1} << 24;
    const std::size_t bursts = packets / BenchWorker::kBurst;
    std::vector<std::unique_ptr<BenchWorker>> workers;
    workers.push_back(std::make_unique<BenchWorker>(mill, kLimits, kSources));
    for (const Case& each : kCases) {
        workers.push_back(worker_for(mill, each));
    }
    Roof roof{std::size_t{64} << 20};
    Random random{11};
    std::vector<Side> sides{
        {"roof", [&] { return ns_per(packets, [&] { roof.within_bursts(bursts, random); }); }}};
    for (const auto& worker : workers) {
        worker->run(8 * kSources / BenchWorker::kBurst);  // every source has a bucket
        sides.push_back({"", [&worker, packets, bursts] {
                             return ns_per(packets, [&] { worker->run(bursts); });
                         }});
    }
    run_rounds(sides, 7);
    for (std::size_t i = 0; i < std::size(kCases); ++i) {
        check(kCases[i], *workers[i + 1]);
        print(kCases[i], sides[i + 2], sides[1], sides[0]);
    }
    for (std::size_t i = 0; i < workers.size(); ++i) {
        workers[i]->run_in_stages(bursts / 4);
        workers[i]->print_stages("L3", i == 0 ? "no overrides" : kCases[i - 1].name);
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
