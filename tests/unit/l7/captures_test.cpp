// Real captures against what tshark found in them, where they are at hand.
#include "lib/capture/reader.hpp"
#include "lib/l7/quic/initial_reader.hpp"
#include "lib/l7/quic/quic_version.hpp"
#include "lib/l7/tls/ja4.hpp"
#include "lib/l7/tls/tls_stream.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/text_field.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

namespace sluice::l7_captures_test {
namespace {

using test::Octets;

// $SLUICE_SHARED, which scripts/test sets to the folder beside the repository.
std::filesystem::path data_folder() {
    const char* given = std::getenv("SLUICE_SHARED");
    return std::filesystem::path{given == nullptr ? "shared" : given} / "data";
}

std::string text_of(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::string hex(unsigned digits, std::uint32_t number) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%0*x", static_cast<int>(digits), number);
    return text;
}

// As the rows of truth begin: kind, frame, version, name, ALPN.
struct Found {
    std::multiset<std::string> rows;
    std::multiset<std::string> fingerprints;
};

class CaptureLook {
public:
    void look(const CapturedFrame& frame) {
        PacketHeaders headers;
        parse_frame({frame.bytes, frame.wire_size}, {}, headers);
        const std::optional<ByteView> payload = read_payload(headers, frame.bytes);
        if (!payload || payload->empty()) {
            return;
        }
        if (headers.proto == 6) {
            look_at_segment(frame.number, *payload);
        } else if (headers.proto == 17) {
            look_at_payload(frame.number, headers.sport, *payload);
        }
    }
    Found found;

private:
    void look_at_segment(std::uint64_t number, ByteView payload) {
        if (read_tls_stream(payload, *room_, hello_).outcome == HelloOutcome::Whole) {
            note(HelloCarrier::Tcp, number, hex(4, hello_.legacy_version));
        }
    }
    // A connection is a source port and the id of its first Initial; one hello of each counts.
    void look_at_payload(std::uint64_t number, std::uint16_t sport, ByteView payload) {
        QuicPacket packet;
        if (read_long_header(payload, packet) != QuicHeaderOutcome::Good || !packet.can_open()) {
            return;
        }
        const std::string id = std::to_string(sport) + text_of(packet.dcid);
        Connection& one = connections_.try_emplace(id).first->second;
        InitialBudget budget{10};
        const QuicHelloRead read = reader_.read(payload, one.stream, budget, hello_);
        if (read.outcome == QuicHelloOutcome::Whole && !one.whole) {
            one.whole = true;
            note(HelloCarrier::Quic, number, hex(8, read.version));
        }
    }
    void note(HelloCarrier carrier, std::uint64_t number, const std::string& version) {
        const std::string alpn = hello_.alpn.empty() ? "-" : text_of(hello_.alpn);
        const std::string name{hello_.server_name.text()};
        found.rows.insert((carrier == HelloCarrier::Tcp ? "tls " : "quic ") +
                          std::to_string(number) + " " + version + " " +
                          (name.empty() ? "-" : name) + " " + alpn);
        found.fingerprints.insert(std::string{make_ja4(hello_, carrier)->text()});
    }

    struct Connection {
        Octets room = Octets(16'384);
        CryptoStream stream{room};
        bool whole = false;
    };
    InitialReader reader_{*InitialOpener::make()};
    std::unique_ptr<HandshakeRoom> room_ = std::make_unique<HandshakeRoom>();
    std::map<std::string, Connection> connections_;
    ClientHello hello_;
};

std::multiset<std::string> truth_rows(const std::string& name) {
    std::multiset<std::string> rows;
    std::ifstream file{data_folder() / "truth" / (name + ".tsv")};
    for (std::string line; std::getline(file, line);) {
        std::istringstream cells{line};
        std::string kind, frame, src, dst, version, sni, dash, alpn;
        cells >> kind >> frame >> src >> dst >> version >> sni >> dash >> alpn;
        if (kind == "tls" || kind == "quic") {
            rows.insert(kind + " " + frame + " " + version + " " + sni + " " + alpn);
        }
    }
    return rows;
}

class Captures : public testing::TestWithParam<std::string> {};

TEST_P(Captures, HaveTheHellosThatTsharkFinds) {
    const std::string path = data_folder() / "pcaps" / (GetParam() + ".pcap");
    if (!std::filesystem::exists(path)) {
        GTEST_SKIP() << "no " << path;
    }
    Result<CaptureReader> capture = CaptureReader::open(path);
    ASSERT_TRUE(capture) << capture.error().what;
    const auto look = std::make_unique<CaptureLook>();
    for (CapturedFrame frame; capture->next(frame) == CaptureNext::Frame;) {
        look->look(frame);
    }
    const std::multiset<std::string> truth = truth_rows(GetParam());
    EXPECT_EQ(look->found.rows, truth);
    if (GetParam() == "o15-quic-v1") {
        // What Suricata's own test of this capture expects.
        EXPECT_EQ(look->found.fingerprints.count("q13d0310h3_55b375c5d22e_cd85d2d88918"), 11U);
    }
}

INSTANTIATE_TEST_SUITE_P(Shared, Captures,
                         testing::Values("o14-tls-sni", "o15-quic-v1", "o16-quic-v2",
                                         "o17-quic-ch-2-datagrams", "o19-lan-mix"),
                         [](const auto& named) { return named.param.substr(0, 3); });

}  // namespace
}  // namespace sluice::l7_captures_test
