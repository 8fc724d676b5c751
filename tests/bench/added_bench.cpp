#include "lib/capture/reader.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/box_config.hpp"
#include "tests/bench/mac_swap.hpp"
#include "tests/bench/mill_worker.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// added_bench CAPTURE RULES: what the box's loop under a rule file adds to a MAC swap of the frames
// of a capture, with tables of the sizes that a box has unless it is told others. Prints one JSON
// object, in ns per packet.
namespace sluice::bench {
namespace {

constexpr std::size_t kPackets = std::size_t{1} << 21;
constexpr std::size_t kBursts = kPackets / PacketMill::kBurst;
constexpr int kRounds = 5;
constexpr std::size_t kPoolShare = 2;  // of a box's keys, those that states need lines for

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "added_bench: %s\n", why.c_str());
    std::exit(1);
}

std::vector<test::Octets> frames_of(const std::string& path) {
    Result<CaptureReader> reader = CaptureReader::open(path);
    if (!reader) {
        give_up(reader.error().what);
    }
    std::vector<test::Octets> frames;
    CapturedFrame frame;
    while (reader->next(frame) == CaptureNext::Frame) {
        frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
    }
    if (frames.empty()) {
        give_up(path + " has no frames");
    }
    return frames;
}

std::string text_of(const std::string& path) {
    std::ifstream stream{path, std::ios::binary};
    if (!stream) {
        give_up("cannot read " + path);
    }
    return {std::istreambuf_iterator<char>{stream}, {}};
}

LoadedRules load(const std::string& rule_file) {
    const std::string text = text_of(rule_file);
    Problems problems{rule_file};
    std::optional<CompiledRules> compiled =
        compile_rules({rule_file, text}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        give_up(render(problems.list().front(), text));
    }
    Result<LoadedRules> loaded = LoadedRules::make(std::move(compiled->set), {.secret = {1, 2}});
    if (!loaded) {
        give_up(loaded.error().what);
    }
    return *std::move(loaded);
}

void measure(const std::string& capture, const std::string& rule_file) {
    const std::vector<test::Octets> frames = frames_of(capture);
    PacketMill mill{PacketMill::Headers::AsMade,
                    [&](std::size_t number) { return frames[number % frames.size()]; }};
    const BoxConfig box;
    MillWorker worker{mill, load(rule_file), box.table_keys, box.table_keys / kPoolShare};
    worker.run(kPackets);
    std::vector<Side> sides{
        {"MAC swap", [&] { return cpu_ns_per(kPackets, [&] { swap_addresses(mill, kBursts); }); }},
        {"rules", [&] { return cpu_ns_per(kPackets, [&] { worker.run(kPackets); }); }}};
    run_rounds(sides, kRounds);
    std::printf("{\"mac_swap_ns\": %.3f, \"rules_ns\": %.3f, \"added_ns\": %.3f}\n",
                sides[0].median(), sides[1].median(), sides[1].median() - sides[0].median());
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("usage: added_bench CAPTURE RULES\n", stderr);
        return 2;
    }
    if (!sluice::bench::start_eal()) {
        return 1;
    }
    sluice::bench::measure(arguments[1], arguments[2]);
    return 0;
}
