#pragma once
#include "lib/l7/stream/unit_parser.hpp"
#include "tests/bench/http_heads.hpp"
#include "tests/bench/http_rules.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>

// What the rows of request_bench share.
namespace sluice::bench {

struct Effort {
    bool quick = false;
    [[nodiscard]] std::size_t bursts() const noexcept {
        return (quick ? std::size_t{1} << 19 : std::size_t{1} << 22) / PacketMill::kBurst;
    }
    [[nodiscard]] std::size_t packets() const noexcept { return bursts() * PacketMill::kBurst; }
};

// Connections that come again and again are remembered, all of them.
inline const UnitBudget kRoomy{
    .connections = {.connections = std::size_t{1} << 18, .begun = std::size_t{1} << 18}};
inline std::size_t counted = 0;  // so that nothing is left out

// The address of a client, below 2^16 of them.
[[nodiscard]] std::string address_of(std::size_t number);
// The segment of a client's connection that carries such bytes.
[[nodiscard]] test::Octets segment_of(std::size_t number, std::string_view text,
                                      std::uint16_t port = 80);

// A worker under rules over requests, to which clients send one each, again and again.
struct RequestWorker {
    RequestWorker(const HttpRules& rules, const std::function<std::string(std::size_t)>& request)
        : mill{PacketMill::Headers::Streams,
               [&](std::size_t number) { return segment_of(number, request(number)); }},
          worker{mill, rules.text, PacketMill::kMbufs * PacketMill::kStreams * 2} {
        worker.find_units_by(parser.finder());
        worker.open_streams();
    }

    PacketMill mill;
    UnitParser parser{kRoomy};
    BenchWorker worker;
};
// A worker to which clients send requests, and servers their answers back, in connections that
// began with a handshake.
struct ExchangeWorker {
    using Texts = std::function<std::string(std::size_t number)>;
    ExchangeWorker(std::string_view rules, const Texts& request, const Texts& answer);

    PacketMill mill;
    UnitParser parser{kRoomy};
    BenchWorker worker;
};
// The rules with an enforced service of HTTP that all of these connections are of.
[[nodiscard]] std::string with_service(std::string rules);
// GETs under a limit by source and host, each answered.
[[nodiscard]] std::unique_ptr<ExchangeWorker> answered_requests(std::string_view rules);
// Acknowledgements without payload, to and fro.
[[nodiscard]] std::unique_ptr<ExchangeWorker> bare_acknowledgements(std::string_view rules);

// Without patterns: GETs of any path under a limit by source and host.
struct PlainRequests : RequestWorker {
    explicit PlainRequests(std::mt19937_64 random = std::mt19937_64{9})
        : RequestWorker{HttpRules{0}, [&](std::size_t) {
                            return usual_get_of(random, random_word(random, 3, 8));
                        }} {}
};

// H4: ClientHellos over TCP, each of a new connection, beside parsing them alone.
void measure_hellos(const Effort& effort);
// H4s: the same to an enforced service, beside the same without it.
void measure_service_hellos(const Effort& effort);
// H5: Initials of QUIC, each of a new connection, beside their AES alone.
void measure_initials(const Effort& effort);
// H2s: requests to an enforced service and their answers, beside the same without it.
void measure_service_requests(const Effort& effort);
// H3s: its segments without payload, beside a set without it and without layer 7.
void measure_service_without_payload(const Effort& effort);
// A1: requests that are all refused and answered, beside dropping them.
void measure_answers(const Effort& effort);

// One of ours beside another, in millions of `unit` a second; both sides have been measured.
void print_beside(const char* id, const std::string& what, const char* unit, const Side& ours,
                  const Side& other);
// Ends the program if fewer units were found than packets of layer 7 were sent.
void check_units(const BenchWorker& worker, UnitEvent event, double share);

}  // namespace sluice::bench
