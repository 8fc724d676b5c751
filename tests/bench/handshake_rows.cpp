#include "lib/l7/quic/long_header.hpp"
#include "lib/l7/tls/tls_stream.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "tests/bench/bare_initial.hpp"
#include "tests/bench/browser_hello.hpp"
#include "tests/bench/request_rows.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::bench {
namespace {

using test::Octets;

constexpr std::uint16_t kPort = 443;
constexpr std::uint32_t kFirst = 977;   // sequence number of a client
constexpr std::size_t kKeyShare = 38;   // X25519: a hello that fits a segment
constexpr std::size_t kPayload = 1162;  // of a datagram of 1,200 bytes
// A burst brings more Initials than the worker's time is for; the clock goes on as far as they are
// accounted.
constexpr double kInitialStep =
    static_cast<double>(kInitialCost.count()) * PacketMill::kBurst * 1.5;

// A box of one worker, which is full of connections soon: each new one takes another's place.
const UnitBudget kOneWorker = unit_budget({}, 1);

// A budget with room for the SYNs of a mill whose hellos follow them by half of its frames.
UnitBudget room_for_syns() {
    UnitBudget budget = kOneWorker;
    budget.connections.begun = PacketMill::kMbufs;
    return budget;
}

std::string rule_by(std::string_view name) {
    return "version: 1\nrules:\n  - {id: handshakes, mode: enforce, key: [ip.src, " +
           std::string{name} +
           "], per: handshake, limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]}\n";
}

// The box sees clients alone.
std::string with_tls_service(std::string rules) {
    return rules.insert(rules.find("rules:"),
                        "services:\n  - {id: hellos, protocol: tls, when: l4.dport eq 443, mode: "
                        "enforce, path: inbound}\n");
}

Octets hello_of(std::size_t number) {
    return browser_hello("Host-" + std::to_string(number) + ".example.com")
        .extension(0x0033, Octets(kKeyShare))
        .records();
}

SealedInitial initial_of(std::size_t number) {
    Octets id(8, std::byte{7});
    id[0] = static_cast<std::byte>(number >> 8);
    id[1] = static_cast<std::byte>(number);
    const InitialKeys keys = derive_initial_keys(kQuicV1, id, QuicSide::Client);
    const std::string name = "quic-" + std::to_string(number) + ".example.com";
    SealedInitial sealed{.packet = test::InitialMaker{}
                                       .dcid(std::move(id))
                                       .carries(test::crypto(0, browser_hello(name).message()))
                                       .padded_to(kPayload)
                                       .packet(),
                         .keys = keys};
    QuicPacket header;
    if (read_long_header(sealed.packet, header) != QuicHeaderOutcome::Good) {
        std::exit(1);
    }
    sealed.number_at = header.number_at;
    return sealed;
}

template <typename Frame>
Octets from_client(std::size_t number, Frame frame, const Octets& bytes) {
    return frame.src("10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256))
        .dport(kPort)
        .carries(bytes)
        .bytes();
}

// A worker that reads ClientHellos.
struct HelloWorker {
    HelloWorker(PacketMill& mill, std::string_view rules, const UnitBudget& budget = kOneWorker)
        : parser{budget}, worker{mill, rules, PacketMill::kMbufs * 2} {
        worker.find_units_by(parser.finder());
    }

    UnitParser parser;
    BenchWorker worker;
};

// What `work` costs for each of the frames in turn.
template <typename Work>
Side bare_side(const char* name, std::size_t packets, Work work) {
    return {name, [packets, work] {
                return cpu_ns_per(packets, [&] {
                    for (std::size_t i = 0; i < packets; ++i) {
                        counted += work(i % PacketMill::kMbufs);
                    }
                });
            }};
}

struct Handshakes {
    const char* id;
    const char* what;
    const char* unit;
    UnitEvent event;
};

void measure(const Handshakes& row, BenchWorker& worker, const Side& bare, std::size_t bursts) {
    worker.run(bursts);
    std::vector<Side> sides{side_of(row.what, worker, bursts), bare};
    run_rounds(sides, kRounds);
    check_units(worker, row.event, 1);
    print_beside(row.id, row.what, row.unit, sides[0], sides[1]);
    tell_stages(row.id, row.what, worker, bursts / 4);
}

}  // namespace

void measure_hellos(const Effort& effort) {
    std::vector<Octets> hellos;
    for (std::size_t i = 0; i < PacketMill::kMbufs; ++i) {
        hellos.push_back(hello_of(i));
    }
    PacketMill mill{PacketMill::Headers::SourcePort, [&](std::size_t number) {
                        return from_client(number, test::tcp().flags(kTcpSyn), hellos[number]);
                    }};
    // Each hello comes with the SYN of its connection (RFC 7413).
    HelloWorker hellos_by_name{mill, rule_by("tls.sni")};
    const auto room = std::make_unique<HandshakeRoom>();
    ClientHello hello;
    const Side bare = bare_side("parsing them alone", effort.packets(), [&](std::size_t number) {
        return read_tls_stream(hellos[number], *room, hello).at;
    });
    measure({"H4", "ClientHellos of new connections, by source and name", "M hellos/s",
             UnitEvent::TlsHello},
            hellos_by_name.worker, bare, effort.bursts());
}

void measure_service_hellos(const Effort& effort) {
    // A box refuses data in a SYN of a service: a hello follows the SYN of its connection, both of
    // a right checksum.
    PacketMill mill{PacketMill::BothWays{
        [](std::size_t number) {
            return from_client(number, test::tcp().flags(kTcpSyn).seq(kFirst).summed(), {});
        },
        [](std::size_t number) {
            const auto segment =
                test::tcp().flags(kTcpAck | kTcpPsh).seq(kFirst + 1).ack(1).summed();
            return from_client(number, segment, hello_of(number));
        },
        &PacketMill::write_port, Direction::In}};
    HelloWorker with{mill, with_tls_service(rule_by("tls.sni")), room_for_syns()};
    HelloWorker without{mill, rule_by("tls.sni"), room_for_syns()};
    with.worker.run(effort.bursts());
    without.worker.run(effort.bursts());
    std::vector<Side> sides{
        side_of("to a service", with.worker, effort.bursts()),
        side_of("the same without the service", without.worker, effort.bursts())};
    run_rounds(sides, kRounds);
    check_units(with.worker, UnitEvent::TlsHello, 0.5);
    check_units(without.worker, UnitEvent::TlsHello, 0.5);
    const std::string what = "SYNs and ClientHellos of new connections, of a service";
    print_beside("H4s", what, "Mpps", sides[0], sides[1]);
    tell_stages("H4s", what, with.worker, effort.bursts() / 4);
    tell_stages("H4s", "the same without the service", without.worker, effort.bursts() / 4);
}

void measure_initials(const Effort& effort) {
    const std::size_t bursts = effort.bursts() / 8;
    std::vector<SealedInitial> initials;
    for (std::size_t i = 0; i < PacketMill::kMbufs; ++i) {
        initials.push_back(initial_of(i));
    }
    PacketMill mill{PacketMill::Headers::SourcePort, [&](std::size_t number) {
                        return from_client(number, test::udp(), initials[number].packet);
                    }};
    UnitBudget all_of_the_time = kOneWorker;
    all_of_the_time.quic.percent = 100;
    UnitParser parser{all_of_the_time};
    BenchWorker worker{mill, rule_by("quic.sni"), PacketMill::kMbufs * 2};
    worker.find_units_by(parser.finder());
    worker.set_step(kInitialStep);
    BareInitial aes;
    const Side bare = bare_side("their AES alone", bursts * PacketMill::kBurst,
                                [&](std::size_t number) { return aes.open(initials[number]); });
    measure({"H5", "QUIC Initials of new connections, by source and name", "M Initials/s",
             UnitEvent::QuicHello},
            worker, bare, bursts);
}

}  // namespace sluice::bench
