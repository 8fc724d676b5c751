#include "lib/engine/burst/burst.hpp"
#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/packet/parse.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Segments and datagrams as the input says, with steps of the clock between them, through a parser
// that has room for all of them, of no service and of services: a packet that completed units and
// comes again completes none. Then once more through one that has next to no room, several packets
// to a burst. In both, texts lie where no later packet of the burst writes, and memory stays within
// its budget.
namespace {

using namespace sluice;
using test::FuzzInput;
using test::Octets;
using test::require;

// Bytes that outlive the input's next ones.
Octets octets_of(ByteView bytes) {
    return {bytes.begin(), bytes.end()};
}

constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kFlags = 0x07;  // SYN, FIN, RST
// No unit is shorter: a question of DNS for the root.
constexpr std::size_t kShortestUnit = 5;
constexpr std::size_t kStreams = 16;

struct Arrival {
    Octets frame;
    std::size_t payload = 0;
    Instant at{};
    bool forwarded = true;
    bool joins = false;  // the burst of the packet before it
    bool sticks = true;  // what its units were judged as sticks to its bytes
};

class Script {
public:
    explicit Script(FuzzInput input) : input_{input} {}

    [[nodiscard]] bool done() const { return input_.empty(); }

    Arrival next() {
        const std::uint8_t what = input_.byte();
        const std::uint8_t how = input_.byte();
        constexpr std::array<std::int64_t, 4> kMilliseconds{0, 1, 5'000, 120'000};
        now_ += std::chrono::milliseconds{kMilliseconds[what >> 6]};
        Arrival arrival;
        arrival.at = now_;
        arrival.joins = (what & 0x20) != 0;
        arrival.forwarded = (how & 0x80) == 0;
        const std::size_t who = what >> 3 & 3U;
        switch (what & 7) {
            case 4:
                datagram(arrival, who, 53, octets_of(input_.bytes(input_.byte())));
                arrival.sticks = false;
                break;
            case 5:
                datagram(arrival, who, 443, octets_of(input_.bytes(4U * input_.byte())));
                break;
            case 6:
                datagram(arrival, who, 443, initial(how));
                break;
            default:
                constexpr std::array<std::uint16_t, 8> kPorts{80, 80, 443, 53, 0, 0, 0, 8080};
                segment(arrival, who, kPorts[what & 7], how);
        }
        return arrival;
    }

private:
    Octets initial(std::uint8_t how) {
        const std::size_t at = (how & 0x40) != 0 ? std::size_t{input_.byte()} : 0;
        const Octets part = octets_of(input_.bytes(4U * input_.byte()));
        return test::InitialMaker{}
            .dcid(test::quic_id(how & 3U))
            .carries((how & 0x20) != 0 ? part : test::crypto(at, part))
            .padded_to(test::kInitialPayload)
            .packet();
    }
    void datagram(Arrival& arrival, std::size_t who, std::uint16_t port, Octets payload) {
        arrival.payload = payload.size();
        arrival.frame =
            test::quic_frame(payload, "10.0.0.1", static_cast<std::uint16_t>(4000 + who), port);
    }
    // Where its connection's last one ended, or as far from there as the input says.
    void segment(Arrival& arrival, std::size_t who, std::uint16_t port, std::uint8_t how) {
        std::uint32_t& next = next_[(who + port) % kStreams];
        const auto flags = static_cast<std::uint16_t>(how & kFlags);
        const std::int8_t off =
            (how & 0x08) != 0 ? static_cast<std::int8_t>(input_.byte()) : std::int8_t{0};
        const Octets payload =
            octets_of(input_.bytes((how & 0x10) != 0 ? 4U * input_.byte() : how >> 5 & 3U));
        const std::uint32_t seq = next + static_cast<std::uint32_t>(off);
        next = seq + static_cast<std::uint32_t>(payload.size());
        arrival.payload = payload.size();
        arrival.sticks = (flags & (kSyn | kRst)) == 0;
        arrival.frame = test::Frame{6}
                            .src("10.0.0.1")
                            .sport(static_cast<std::uint16_t>(4000 + who))
                            .dport(port)
                            .flags(flags)
                            .seq(seq)
                            .carries(payload)
                            .bytes();
    }

    FuzzInput input_;
    Instant now_{std::chrono::hours{1}};
    std::array<std::uint32_t, kStreams> next_{};
};

// Packets are of services, by their ports, or of none.
enum class Declared : std::uint8_t { Nothing, Services };

// One parser, anew for each input, and the burst that it looks into: made once, since it is large.
class Bench {
public:
    explicit Bench(const UnitBudget& budget) : budget_{budget} {
        parser_.emplace(budget_);
        units_ = std::make_unique<BurstUnits>(parser_->finder());
        for (const TextFieldRow& row : kTextFields) {
            wanted_.add(row.field);
        }
    }
    // The parser stays where it is, so that `units_` finds it.
    void begin(Declared declared) {
        parser_.emplace(budget_);
        declared_ = declared;
    }

    // How many units that limits count these packets complete, each at its instant; of one that is
    // dropped for what it holds nothing is charged.
    std::size_t take(const std::vector<const Arrival*>& packets) {
        units_->clear();
        burst_.clear();
        std::vector<std::uint64_t> texts;
        std::size_t found = 0;
        for (std::size_t row = 0; row < packets.size(); ++row) {
            find(row, *packets[row]);
            texts.push_back(digest(row));
            found += (units_->unjudgeable() & row_bit(row)) != 0 ? 0 : counted(row);
        }
        for (std::size_t row = 0; row < packets.size(); ++row) {
            require(digest(row) == texts[row]);
            settle(row, *packets[row]);
        }
        check_memory();
        return found;
    }
    [[nodiscard]] std::uint64_t unremembered() const {
        return parser_->connections().of(ConnectionEvent::Unremembered) +
               parser_->service_connections().of(ConnectionEvent::Unremembered);
    }

private:
    void find(std::size_t row, const Arrival& packet) {
        const FrameView view{packet.frame, static_cast<std::uint32_t>(packet.frame.size())};
        require(burst_.add(view, Direction::In, 0));
        PacketHeaders headers;
        parse_frame(view, {}, headers);
        units_->find(row, {.headers = headers,
                           .frame = view,
                           .wanted = wanted_,
                           .counted = PerSet{Per::Query, Per::Request, Per::Handshake},
                           .requests = requests_,
                           .hash = hash_,
                           .now = packet.at,
                           .service = service_of(headers)});
        require(units_->count(row) <= kMaxUnits &&
                (units_->why(row) != Reason::TooManyUnits || units_->count(row) == 0));
        require(counted(row) == 0 || packet.payload != 0);
    }
    // A client's packet that the server takes, as its tracker would show it.
    [[nodiscard]] ServicePacket service_of(const PacketHeaders& headers) const {
        if (declared_ == Declared::Nothing) {
            return {};
        }
        const bool is_udp = headers.proto == 17;
        const ServiceProtocol protocol = headers.dport == 53    ? ServiceProtocol::Dns
                                         : is_udp               ? ServiceProtocol::Quic
                                         : headers.dport == 443 ? ServiceProtocol::Tls
                                                                : ServiceProtocol::Http;
        return {.service = test::enforced_service(protocol),
                .connection = connection_ends(headers, hash_).along(),
                .is_from_client = true,
                .is_readable = true};
    }
    [[nodiscard]] std::size_t counted(std::size_t row) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < units_->count(row); ++i) {
            count += units_->unit(row, i).kind == Per::Packet ? 0 : 1;
        }
        return count;
    }
    // Reads every byte of every text.
    [[nodiscard]] std::uint64_t digest(std::size_t row) const {
        std::uint64_t sum = units_->count(row);
        for (std::size_t i = 0; i < units_->count(row); ++i) {
            const UnitTexts& texts = units_->unit(row, i).texts;
            for (const TextFieldRow& field : kTextFields) {
                if (texts.has(field.field)) {
                    sum = sum * 31 + hash_.digest(texts.text(field.field));
                }
            }
        }
        return sum;
    }
    void settle(std::size_t row, const Arrival& packet) {
        const RowMask mask = row_bit(row);
        const bool repeats = (units_->following() & mask) != 0 && units_->repeats_refused(row);
        const bool passes = packet.forwarded && !repeats && (units_->unjudgeable() & mask) == 0;
        burst_.packets()[row].decision.verdict = passes ? Verdict::Pass : Verdict::Drop;
        units_->settle(burst_, mask, MeterPlan{});
    }
    void check_memory() const {
        for (const ConnectionCounters* const counters :
             {&parser_->connections(), &parser_->service_connections()}) {
            check_streams(*counters);
        }
        require(parser_->quic().half_hellos.read() <= budget_.quic.half_hellos);
        require(parser_->quic().hellos.read() <= budget_.quic.connections);
    }
    void check_streams(const ConnectionCounters& counters) const {
        require(counters.connections.read() <= budget_.connections.connections);
        require(counters.half_heads.read() <= budget_.connections.half_heads);
        require(counters.held_lines.read() <= budget_.connections.half_head_lines);
        require(counters.half_heads.read() != 0 || counters.held_lines.read() == 0);
    }

    UnitBudget budget_;
    Declared declared_ = Declared::Nothing;
    std::optional<UnitParser> parser_;
    std::unique_ptr<BurstUnits> units_;
    Burst burst_;
    TextFieldSet wanted_;
    RequestTexts requests_;
    KeyHasher hash_{HashSecret{1, 2}};
};

void with_room(Script script, Declared declared) {
    static Bench bench{{.connections = {.connections = 256,
                                        .half_heads = 128,
                                        .half_head_lines = 4096,
                                        .half_heads_per_source = 128,
                                        .head_bytes = 4096},
                        .quic = {.connections = 1024,
                                 .half_hellos = 32,
                                 .half_hellos_per_source = 32,
                                 .percent = 100}}};
    bench.begin(declared);
    std::size_t units = 0;
    std::size_t bytes = 0;
    while (!script.done()) {
        const Arrival packet = script.next();
        const std::uint64_t unremembered = bench.unremembered();
        const std::size_t found = bench.take({&packet});
        units += found;
        bytes += packet.payload;
        require(units * kShortestUnit <= bytes);
        if (found != 0 && packet.sticks && bench.unremembered() == unremembered) {
            require(bench.take({&packet}) == 0);
        }
    }
}

void without_room(Script script, Declared declared) {
    static Bench bench{{.connections = {.connections = 4,
                                        .half_heads = 2,
                                        .half_head_lines = 24,
                                        .half_heads_per_source = 2,
                                        .head_bytes = 1000},
                        .quic = {.connections = 8,
                                 .half_hellos = 2,
                                 .half_hellos_per_source = 2,
                                 .hello_bytes = 2048,
                                 .percent = 20}}};
    bench.begin(declared);
    std::vector<Arrival> burst;
    const auto take = [&] {
        std::vector<const Arrival*> packets;
        for (const Arrival& arrival : burst) {
            packets.push_back(&arrival);
        }
        (void)bench.take(packets);
        burst.clear();
    };
    while (!script.done()) {
        Arrival packet = script.next();
        if (!packet.joins || burst.size() == kMaxBurst) {
            take();
        }
        burst.push_back(std::move(packet));
    }
    take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const FuzzInput input{data, data + std::min<std::size_t>(size, 8192)};
    for (const Declared declared : {Declared::Nothing, Declared::Services}) {
        with_room(Script{input}, declared);
        without_room(Script{input}, declared);
    }
    return 0;
}
