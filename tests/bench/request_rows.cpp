#include "tests/bench/request_rows.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::bench {

std::string address_of(std::size_t number) {
    return "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256);
}

test::Octets segment_of(std::size_t number, std::string_view text, std::uint16_t port) {
    const ByteView bytes = bytes_of(text);
    return test::tcp()
        .src(address_of(number))
        .sport(static_cast<std::uint16_t>(20'000 + number))
        .dport(port)
        .seq(static_cast<std::uint32_t>(number * 977))
        .carries({bytes.begin(), bytes.end()})
        .bytes();
}

void print_beside(const char* id, const std::string& what, const char* unit, const Side& ours,
                  const Side& other) {
    std::printf(
        "{\"id\": \"%s\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"reference\": "
        "\"%s\", \"reference_value\": %.3f, \"ratio\": %.3f, \"rounds\": %s}\n",
        id, what.c_str(), mpps(ours), unit, other.name.c_str(), mpps(other),
        mpps(ours) / mpps(other), list_of(ours.rounds).c_str());
    std::fflush(stdout);
}

void check_units(const BenchWorker& worker, UnitEvent event, double share) {
    const auto found = static_cast<double>(worker.events(event));
    const auto sent = static_cast<double>(worker.packets()) * share;
    std::fprintf(stderr, "  %.0f units in %.0f packets of them; %lu dropped\n", found, sent,
                 worker.packets_dropped());
    if (found < 0.999 * sent || worker.dropped() > 0.001) {
        std::exit(1);
    }
}

}  // namespace sluice::bench
