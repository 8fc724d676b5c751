#include "tests/bench/pipeline_rows.hpp"
#include "tests/bench/tight_rules.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace sluice::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kRefused = 0.9;
constexpr int kSteps = 12;

std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream stream{path, std::ios::binary};
    if (!stream) {
        return std::nullopt;
    }
    return std::string{std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
}

// Lists lie where the rule file says, relative to it.
ListReader files_beside(const fs::path& rule_file) {
    return [folder = rule_file.parent_path()](const std::string& name) -> Result<ListFile> {
        std::optional<std::string> text = read_file(folder / name);
        if (!text) {
            return Error{Errc::Unreachable, "there is no " + name};
        }
        return ListFile{name, std::make_shared<const std::string>(*std::move(text))};
    };
}

double share_dropped(BenchWorker& worker, std::size_t bursts) {
    const std::uint64_t packets = worker.packets();
    const std::uint64_t dropped = worker.packets_dropped();
    worker.run(bursts);
    return static_cast<double>(worker.packets_dropped() - dropped) /
           static_cast<double>(worker.packets() - packets);
}

// Sets the worker's clock so that 90 % of the packets are dropped, by halving the range of its
// steps, and says how many are. All rates and windows of the file keep their proportions.
double refuse_most(BenchWorker& worker, std::size_t bursts) {
    double low = 0.001;  // ns a burst: nearly all are dropped
    double high = 1'000'000;
    double share = 0;
    for (int i = 0; i < kSteps; ++i) {
        const double middle = std::sqrt(low * high);
        worker.set_step(middle);
        worker.run(bursts);  // the buckets get used to it
        share = share_dropped(worker, bursts / 2);
        if (std::abs(share - kRefused) < 0.005) {
            break;
        }
        (share > kRefused ? low : high) = middle;
    }
    return share;
}

}  // namespace

void measure_rule_file(const PipelineRun& run) {
    const fs::path path = run.rule_file;
    const std::optional<std::string> text = read_file(path);
    if (!text) {
        std::fprintf(stderr, "cannot read the rule file `%s`\n", path.c_str());
        std::exit(1);
    }
    const ListReader files = files_beside(path);
    const std::string tight = tight_rules(*text);
    PacketMill mill{PacketMill::Headers::PerSource};
    const std::size_t bursts = run.bursts();
    const auto one = warm_worker(mill, {.text = kOneRule}, bursts);
    const auto admitting = warm_worker(mill, {.text = *text, .files = &files}, bursts);
    const auto refusing = warm_worker(mill, {.text = tight, .files = &files}, bursts);
    const double refused = refuse_most(*refusing, bursts);
    std::vector<Side> sides{side_of("P1", *one, bursts), side_of("as it is", *admitting, bursts),
                            side_of("90 % refused", *refusing, bursts)};
    run_rounds(sides, kRounds);
    for (std::size_t i = 1; i < sides.size(); ++i) {
        const std::string name = path.filename().string() + ", 2^20 flows, " + sides[i].name;
        print_speed("P5", name, sides[i], "P1", mpps(sides[0]));
        print_speed("P5", name, sides[i], kLineRateName, kLineRate);
    }
    print_alone("P5", "share dropped as it is", admitting->dropped(), "of all packets");
    print_alone("P5", "share dropped where 90 % are refused", refused, "of all packets");
    const auto buckets = static_cast<double>(admitting->live_keys());
    print_alone("P5", "rules that a packet matches", admitting->matches_per_packet(), "rules");
    print_alone("P5", "buckets", buckets, "buckets");
    tell_stages("P5", "P1", *one, bursts / 4);
    tell_stages("P5", "as it is", *admitting, bursts / 4);
    tell_stages("P5", "90 % refused", *refusing, bursts / 4);
}

}  // namespace sluice::bench
