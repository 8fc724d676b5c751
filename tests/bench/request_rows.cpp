#include "tests/bench/request_rows.hpp"

#include "tests/bench/exchange_frames.hpp"

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

ExchangeWorker::ExchangeWorker(std::string_view rules, const Texts& request, const Texts& answer)
    : mill{PacketMill::BothWays{
          [&](std::size_t number) {
              return exchange_of(number, request(number), answer(number)).request;
          },
          [&](std::size_t number) {
              return exchange_of(number, request(number), answer(number)).answer;
          },
          &write_exchange}},
      worker{mill, rules, PacketMill::kMbufs * PacketMill::kStreams * 2} {
    worker.find_units_by(parser.finder());
    worker.open_streams(&handshake_behind);
}

std::string with_service(std::string rules) {
    return rules.insert(rules.find("rules:"),
                        "services:\n  - {id: web, protocol: http, when: l4.dport eq 80, mode: "
                        "enforce}\n");
}

std::unique_ptr<ExchangeWorker> answered_requests(std::string_view rules) {
    return std::make_unique<ExchangeWorker>(
        rules,
        [](std::size_t number) {
            std::mt19937_64 random{number};
            return usual_get_of(random, random_word(random, 3, 8));
        },
        [](std::size_t number) {
            std::mt19937_64 random{number};
            const std::string body = random_word(random, 100, 200);
            return "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain\r\n"
                   "Content-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body;
        });
}

std::unique_ptr<ExchangeWorker> bare_acknowledgements(std::string_view rules) {
    const auto nothing = [](std::size_t) { return std::string{}; };
    return std::make_unique<ExchangeWorker>(rules, nothing, nothing);
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
