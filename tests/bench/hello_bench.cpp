#include "lib/l7/quic/initial_reader.hpp"
#include "lib/l7/tls/ja4.hpp"
#include "lib/l7/tls/tls_stream.hpp"
#include "tests/bench/browser_hello.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/unit/l7/quic/initial_maker.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

// What a ClientHello and a QUIC Initial cost, beside copying the same bytes, and beside AES-GCM of
// them alone under a key that stands. Prints one JSON object a line.
namespace sluice::bench {
namespace {

using test::InitialMaker;
using test::Octets;

constexpr std::size_t kOperations = 20'000;
constexpr std::size_t kConnections = 256;
constexpr std::size_t kPayload = 1162;  // of a datagram of 1,200 bytes

std::size_t done = 0;  // so that nothing is left out

template <typename Work>
double each(Work&& work) {
    return cpu_ns_per(kOperations, [&] {
        for (std::size_t i = 0; i < kOperations; ++i) {
            done += work(i % kConnections);
        }
    });
}

void show(const char* id, const char* what, const std::vector<Side>& sides) {
    const double ours = sides[0].median();
    std::printf(
        "{\"id\": \"%s\", \"case\": \"%s\", \"value\": %.1f, \"unit\": \"ns\", \"reference\": "
        "\"%s\", \"reference_value\": %.1f, \"ratio\": %.3f, \"per_second\": %.0f, \"rounds\": "
        "%s}\n",
        id, what, ours, sides[1].name.c_str(), sides[1].median(), ours / sides[1].median(),
        1e9 / ours, list_of(sides[0].rounds).c_str());
}

void measure_hellos(std::size_t share, bool ja4) {
    std::vector<Octets> streams;
    for (std::size_t i = 0; i < kConnections; ++i) {
        streams.push_back(browser_hello("Host-" + std::to_string(i) + ".example.com")
                              .extension(0x0033, Octets(share))
                              .records());
    }
    const auto room = std::make_unique<HandshakeRoom>();
    ClientHello hello;
    Octets copy(streams.back().size() + 100);
    std::vector<Side> sides{
        {"ours",
         [&] {
             return each([&](std::size_t i) {
                 const HelloRead read = read_tls_stream(streams[i], *room, hello);
                 return read.at +
                        (ja4 ? make_ja4(hello, HelloCarrier::Tcp)->text().size() : std::size_t{0});
             });
         }},
        {"copying its bytes", [&] {
             return each([&](std::size_t i) {
                 std::memcpy(copy.data(), streams[i].data(), streams[i].size());
                 return static_cast<std::size_t>(copy[i]);
             });
         }}};
    run_rounds(sides, 9);
    const std::string what = "a hello of " + std::to_string(streams.back().size()) +
                             (ja4 ? " bytes, and its JA4" : " bytes in one record");
    show("TLS", what.c_str(), sides);
}

// AES-GCM of a packet's payload under one key, with its tag.
class BareGcm {
public:
    BareGcm() {
        EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
        if (EVP_DecryptInit_ex2(context_.get(), cipher, key_, nullptr, nullptr) != 1) {
            std::exit(1);
        }
        EVP_CIPHER_free(cipher);
    }
    std::size_t open(const Octets& packet) {
        int size = 0;
        const auto* const bytes = reinterpret_cast<const unsigned char*>(packet.data());
        (void)EVP_DecryptInit_ex2(context_.get(), nullptr, nullptr, key_, nullptr);
        (void)EVP_DecryptUpdate(context_.get(), nullptr, &size, bytes, 22);
        (void)EVP_DecryptUpdate(context_.get(), plain_, &size, bytes + 22, kPayload);
        (void)EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, 16, key_);
        return EVP_DecryptFinal_ex(context_.get(), plain_, &size) == 1 ? 1 : plain_[0];
    }

private:
    std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_{EVP_CIPHER_CTX_new(),
                                                                             &EVP_CIPHER_CTX_free};
    unsigned char key_[16]{};
    unsigned char plain_[2048];
};

void measure_initials(const char* what, bool damaged) {
    const Octets message = browser_hello("quic.example.com").message();
    std::vector<Octets> datagrams;
    for (std::size_t i = 0; i < kConnections; ++i) {
        Octets id(8, static_cast<std::byte>(i));
        datagrams.push_back(InitialMaker{}
                                .dcid(std::move(id))
                                .carries(test::crypto(0, message))
                                .padded_to(kPayload)
                                .packet());
        datagrams.back().back() ^= damaged ? std::byte{1} : std::byte{0};
    }
    InitialReader reader{*InitialOpener::make()};
    BareGcm bare;
    Octets room(4096);
    ClientHello hello;
    std::vector<Side> sides{
        {"ours",
         [&] {
             return each([&](std::size_t i) {
                 CryptoStream stream{room};
                 InitialBudget budget{1};
                 const QuicHelloRead read = reader.read(datagrams[i], stream, budget, hello);
                 if ((read.outcome == QuicHelloOutcome::Whole) == damaged) {
                     std::exit(1);
                 }
                 return hello.alpn.size();
             });
         }},
        {"AES-GCM of the same bytes",
         [&] { return each([&](std::size_t i) { return bare.open(datagrams[i]); }); }}};
    run_rounds(sides, 9);
    show("QUIC", what, sides);
}

int run() {
    measure_hellos(38, false);
    measure_hellos(1216, false);  // with ML-KEM
    measure_hellos(1216, true);
    measure_initials("an Initial of 1,200 bytes, each of another connection", false);
    measure_initials("the same, not authentic", true);
    std::fprintf(stderr, "%zu\n", done);
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main() {
    return sluice::bench::run();
}
