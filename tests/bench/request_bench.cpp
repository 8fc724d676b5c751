#include "lib/l7/dns/dns_message.hpp"
#include "lib/l7/dns/dns_name.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "tests/bench/http_heads.hpp"
#include "tests/bench/http_rules.hpp"
#include "tests/bench/request_rows.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/scan_alone.hpp"
#include "tests/packets/dns_bytes.hpp"

#include "lib/l7/http1/request_head.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// Requests of later layers through the whole pipeline of one lcore, from frames to verdicts.
//
//   H1   GETs under 1,000 patterns, beside hs_scan alone over the same fields
//   H2   the same, absolute
//   H3   packets that are none of layer 7's, beside the same set without its rules over layer 7
//   H2s, H3s   requests and their answers, and TCP without payload, of an enforced service, beside
//        the same without it
//   H4   ClientHellos, each of a new connection, beside parsing them alone
//   H4s  the same to an enforced service, beside the same without it
//   H5   QUIC Initials, each of a new connection, beside their AES alone
//   DNS  queries by name, beside reading them alone
//   A1   requests that are all answered 429, beside dropping them
//
// Prints one JSON object a line.
namespace sluice::bench {
namespace {

using test::Octets;

constexpr std::size_t kPatterns = 1000;
constexpr std::string_view kDnsRules = R"yaml(version: 1
rules:
  - id: names
    mode: enforce
    key: [dns.qname]
    per: query
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";

// One in ten asks for a path whose beginning a rule selects.
std::vector<std::string> requests_for(const HttpRules& rules) {
    std::mt19937_64 random{9};
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < PacketMill::kMbufs; ++i) {
        const std::string segment = random() % 10 == 0
                                        ? rules.segments[random() % rules.segments.size()]
                                        : random_word(random, 3, 8);
        requests.push_back(usual_get_of(random, segment));
    }
    return requests;
}

ScanAlone scan_alone(const BenchWorker& worker, const std::vector<std::string>& requests) {
    ScanAlone alone{worker.rules().classifier->parts().texts};
    const WantedHeaders wanted = *WantedHeaders::make({"user-agent", "referer"}, {});
    std::vector<std::byte> room(2048);
    RequestHead head;
    for (const std::string& request : requests) {
        alone.begin_request();
        if (parse_request_head(bytes_of(request), {wanted}, room, head) != HeadStatus::Complete) {
            std::exit(1);
        }
        alone.add(TextField::HttpPath, head.path);
        alone.add(TextField::HttpQuery, head.query);
        alone.add(TextField::HttpUserAgent, head.header(kFramingHeaderCount).first);
        alone.add(TextField::HttpReferer, head.header(kFramingHeaderCount + 1).first);
    }
    return alone;
}

void measure_requests(const Effort& effort) {
    const HttpRules rules{kPatterns};
    const std::vector<std::string> requests = requests_for(rules);
    RequestWorker sent{rules, [&](std::size_t number) { return requests[number]; }};
    BenchWorker& worker = sent.worker;
    worker.run(effort.bursts());
    ScanAlone alone = scan_alone(worker, requests);
    std::vector<Side> sides{side_of("requests", worker, effort.bursts()),
                            {"hs_scan alone over the same fields", [&] {
                                 return cpu_ns_per(effort.packets(), [&] {
                                     for (std::size_t i = 0; i < effort.packets(); ++i) {
                                         counted += alone.scan(i % alone.requests());
                                     }
                                 });
                             }}};
    run_rounds(sides, kRounds);
    check_units(worker, UnitEvent::HttpRequest, 1);
    const std::string what = "GETs by source and host under 1,000 patterns";
    print_beside("H1", what, "M requests/s", sides[0], sides[1]);
    print_alone("H2", what, sides[0], "M requests/s");
    std::fprintf(stderr, "  H1 %zu patterns are scanned for, %.3f rules match a request\n",
                 alone.patterns(), worker.matches_per_packet());
    tell_stages("H1", what, worker, effort.bursts() / 4);
}

// The same without patterns: what a limit over requests costs by itself.
void measure_one_rule_over_requests(const Effort& effort) {
    PlainRequests requests;
    BenchWorker& worker = requests.worker;
    worker.run(effort.bursts());
    std::vector<Side> sides{side_of("requests", worker, effort.bursts())};
    run_rounds(sides, kRounds);
    check_units(worker, UnitEvent::HttpRequest, 1);
    const std::string what = "GETs by source and host, no patterns";
    print_alone("H2", what, sides[0], "M requests/s");
    tell_stages("H2", what, worker, effort.bursts() / 4);
}

// Packets that layer 7 has nothing to do with, of one kind.
struct OtherKind {
    const char* name;
    Octets (*frame)(std::size_t number);
};

Octets udp_frame(std::size_t number) {
    return test::udp().src(address_of(number)).dport(9999).payload(64).bytes();
}
Octets bare_ack(std::size_t number) {
    return segment_of(number, "");
}
// Records of TLS, of a connection that has begun.
Octets tls_data(std::size_t number) {
    std::string record{"\x17\x03\x03\x00\xC8", 5};
    std::mt19937_64 random{number};
    while (record.size() < 205) {
        record += static_cast<char>(random());
    }
    return segment_of(number, record, 443);
}

// A limit that every packet meets, and the rules over layer 7 or none.
std::string with_sources(const HttpRules& rules) {
    return rules.text +
           "  - {id: sources, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, "
           "rate: 10/s, burst: 1M}]}\n";
}
constexpr std::string_view kSourcesAlone =
    "version: 1\nrules:\n  - {id: sources, mode: enforce, key: [ip.src], limits: [{algorithm: "
    "token_bucket, rate: 10/s, burst: 1M}]}\n";

// A worker with frames and units of its own.
struct Station {
    Station(const std::function<Octets(std::size_t)>& frame, std::string_view rules,
            const Effort& effort)
        : mill{PacketMill::Headers::Streams, frame},
          worker{mill, rules, PacketMill::kMbufs * PacketMill::kStreams * 3} {
        worker.find_units_by(parser.finder());
        worker.run(effort.bursts());
    }
    PacketMill mill;
    UnitParser parser{kRoomy};
    BenchWorker worker;
};

void measure_others_alone(const OtherKind& kind, const std::string& rules, const Effort& effort) {
    const std::size_t bursts = 4 * effort.bursts();
    Station with{kind.frame, rules, effort};
    Station without{kind.frame, kSourcesAlone, effort};
    std::vector<Side> sides{
        side_of("with rules over layer 7", with.worker, bursts),
        side_of("the same set without its rules over layer 7", without.worker, bursts)};
    run_rounds(sides, kRounds);
    print_beside("H3", std::string{kind.name} + " alone", "Mpps", sides[0], sides[1]);
    tell_stages("H3", kind.name, with.worker, bursts / 4);
}

// Each kind alone: what they cost among requests could only be had as a difference of two times
// that are each many times as large, which is noise.
void measure_others(const Effort& effort) {
    const std::string rules = with_sources(HttpRules{10});
    for (const OtherKind& kind : {OtherKind{"UDP to another port", &udp_frame},
                                  {"TCP without payload", &bare_ack},
                                  {"TCP with another protocol", &tls_data}}) {
        measure_others_alone(kind, rules, effort);
    }
}

void measure_dns(const Effort& effort) {
    std::mt19937_64 random{9};
    std::vector<std::string> queries;
    for (std::size_t i = 0; i < PacketMill::kMbufs; ++i) {
        queries.push_back(test::dns_query("www." + random_word(random, 4, 9) + "." +
                                          random_word(random, 4, 9) + ".example"));
    }
    PacketMill mill{PacketMill::Headers::Source, [&](std::size_t number) {
                        return test::udp()
                            .src("10.0.0.1")
                            .dport(53)
                            .carries(test::message_octets(queries[number]))
                            .bytes();
                    }};
    UnitParser parser{kRoomy};
    BenchWorker worker{mill, kDnsRules, PacketMill::kMbufs * 2};
    worker.find_units_by(parser.finder());
    worker.run(effort.bursts());
    std::vector<std::byte> room(kMaxDnsNameText);
    const std::size_t bursts = 2 * effort.bursts();
    std::vector<Side> sides{
        side_of("queries", worker, bursts),
        {"reading them alone", [&] {
             const std::size_t packets = bursts * PacketMill::kBurst;
             return cpu_ns_per(packets, [&] {
                 for (std::size_t i = 0; i < packets; ++i) {
                     const ByteView message = bytes_of(queries[i % queries.size()]);
                     const DnsMessage parsed = parse_dns_message(message);
                     counted += write_dns_name(message, parsed.first.name_at, room);
                 }
             });
         }}};
    run_rounds(sides, kRounds);
    check_units(worker, UnitEvent::DnsQuery, 1);
    print_beside("DNS", "queries by name", "M queries/s", sides[0], sides[1]);
    tell_stages("DNS", "queries by name", worker, bursts / 4);
}

struct Measure {
    std::string_view id;
    void (*run)(const Effort& effort);
};
constexpr Measure kMeasures[] = {{"H1", &measure_requests},
                                 {"H2", &measure_one_rule_over_requests},
                                 {"H3", &measure_others},
                                 {"H2s", &measure_service_requests},
                                 {"H3s", &measure_service_without_payload},
                                 {"H4", &measure_hellos},
                                 {"H4s", &measure_service_hellos},
                                 {"H5", &measure_initials},
                                 {"DNS", &measure_dns},
                                 {"A1", &measure_answers}};

int run(const std::vector<std::string_view>& ids, const Effort& effort) {
    if (!start_eal()) {
        return 1;
    }
    for (const Measure& each : kMeasures) {
        if (ids.empty() || std::find(ids.begin(), ids.end(), each.id) != ids.end()) {
            each.run(effort);
        }
    }
    std::fprintf(stderr, "%zu counted\n", counted);
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    sluice::bench::Effort effort;
    std::vector<std::string_view> ids;
    for (int i = 1; i < count; ++i) {
        if (std::string_view{arguments[i]} == "--quick") {
            effort.quick = true;
        } else {
            ids.emplace_back(arguments[i]);
        }
    }
    return sluice::bench::run(ids, effort);
}
