#include "tests/bench/owner_rows.hpp"
#include "tests/bench/rounds.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

// M4: packets under a limit that admits nothing beyond it, of whose keys another worker owns every
// second one. Both ways to an owner, beside what a packet takes whose worker owns its key. Two
// whole workers take turns in one thread, so that a figure is the work of both; no line crosses
// between cores. Each prints a JSON object.
namespace sluice::bench {
namespace {

constexpr std::size_t kBursts = 4096;

struct Way {
    const char* name;
    OwnedFlows::Way way;
};
constexpr Way kWays[] = {{"handed to its owner", OwnedFlows::Way::HandOver},
                         {"its owner is asked", OwnedFlows::Way::Ask}};

// ns of each frame that has left. Ends the program if one was refused: its way would be another.
double ns(OwnedFlows& flows) {
    const std::uint64_t before = flows.left();
    const double all = cpu_ns_per(1, [&] { flows.run(kBursts); });
    if (flows.forwarded() != flows.left()) {
        std::fprintf(stderr, "%lu of %lu frames were refused\n", flows.left() - flows.forwarded(),
                     flows.left());
        std::exit(1);
    }
    return all / static_cast<double>(flows.left() - before);
}

// Ends the program if another worker had a part in fewer than a third of the frames, or in any
// where none should: the figure would be of another way.
void check_shared(const OwnedFlows& flows, bool is_own) {
    if (is_own ? flows.shared() != 0 : 3 * flows.shared() < flows.left()) {
        std::fprintf(stderr, "another worker had a part in %lu of %lu frames\n", flows.shared(),
                     flows.left());
        std::exit(1);
    }
}

void print(const Side& way, const Side& own) {
    std::printf(
        "{\"id\": \"M4\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"Mpps\", \"reference\": "
        "\"it owns its keys\", \"reference_value\": %.3f, \"ratio\": %.3f, \"rounds\": %s, "
        "\"reference_rounds\": %s}\n",
        way.name.c_str(), 1000 / way.median(), 1000 / own.median(), own.median() / way.median(),
        list_of(way.rounds).c_str(), list_of(own.rounds).c_str());
}

void run(int rounds) {
    std::vector<Side> sides;
    std::vector<std::unique_ptr<OwnedFlows>> flows;
    const auto add = [&](const char* name, OwnedFlows::Way way) {
        OwnedFlows& one = *flows.emplace_back(std::make_unique<OwnedFlows>(way));
        one.run(kBursts);
        sides.push_back({name, [&one] { return ns(one); }});
    };
    add("own", OwnedFlows::Way::Local);
    for (const Way& way : kWays) {
        add(way.name, way.way);
    }
    run_rounds(sides, rounds);
    check_shared(*flows[0], true);
    for (std::size_t i = 1; i < sides.size(); ++i) {
        check_shared(*flows[i], false);
        print(sides[i], sides[0]);
    }
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::strcmp(arguments[1], "--quick") == 0;
    sluice::bench::run(quick ? 5 : 11);
    return 0;
}
