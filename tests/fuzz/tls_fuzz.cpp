#include "lib/base/ascii.hpp"
#include "lib/l7/tls/ja4.hpp"
#include "lib/l7/tls/tls_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace sluice;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// Memory of its own size, so that a read beyond it is seen.
struct Look {
    Look(ByteView from, HandshakeRoom& room)
        : bytes{from.begin(), from.end()}, read{read_tls_stream(bytes, room, hello)} {}

    std::vector<std::byte> bytes;
    ClientHello hello;
    HelloRead read;
};

bool same(const HelloRead& one, const HelloRead& other) {
    return one.outcome == other.outcome && one.fault == other.fault && one.at == other.at;
}

void check_hello(const Look& look) {
    const ClientHello& hello = look.hello;
    require(look.read.at <= look.bytes.size() && look.read.at > kRecordHeader + kHandshakeHeader);
    require(hello.server_name.text().size() <= ServerName::kMaxSize);
    require((hello.server_name.kind() == ServerNameKind::Absent) ==
            hello.server_name.text().empty());
    require(hello.has_server_name || hello.server_name.kind() == ServerNameKind::Absent);
    require(!hello.cipher_suites.empty() && hello.cipher_suites.size() % 2 == 0);
    for (const char c : hello.server_name.text()) {
        require(is_ascii_lower(c) || is_ascii_digit(c) || c == '-' || c == '_' || c == '.');
    }
    if (const auto ja4 = make_ja4(hello, HelloCarrier::Tcp)) {
        require(ja4->text()[10] == '_' && ja4->text()[23] == '_' &&
                (ja4->text()[3] == 'd') == hello.has_server_name);
    }
}

// A beginning of the stream says no more than all of it, and what it asks for is neither there nor
// more than is needed.
void check_beginning(const Look& whole, std::size_t size) {
    static HandshakeRoom room;
    const Look part{ByteView{whole.bytes}.first(size), room};
    if (part.read.outcome != HelloOutcome::NeedMore) {
        require(same(part.read, whole.read));
        return;
    }
    require(part.read.at > size);
    require(whole.read.outcome != HelloOutcome::Whole || part.read.at <= whole.read.at);
    const std::size_t asked = std::min<std::size_t>(part.read.at, whole.bytes.size()) - 1;
    require(asked < size ||
            Look{ByteView{whole.bytes}.first(asked), room}.read.outcome == HelloOutcome::NeedMore ||
            whole.read.outcome != HelloOutcome::Whole);
}

}  // namespace

// The stream; the handshake in it is also read alone.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static HandshakeRoom room;
    const Look whole{std::as_bytes(std::span{data, size}), room};
    if (whole.read.outcome == HelloOutcome::Whole) {
        check_hello(whole);
    }
    require((whole.read.outcome == HelloOutcome::Malformed) ==
            (whole.read.fault != HelloFault::None));
    const std::size_t step = size / 24 + 1;
    for (std::size_t part = 0; part < size; part += step) {
        check_beginning(whole, part);
    }
    ClientHello hello;
    const std::vector<std::byte> handshake{whole.bytes.begin(), whole.bytes.end()};
    const HelloRead alone = read_client_hello(handshake, hello);
    require(alone.outcome != HelloOutcome::NeedMore || alone.at > size);
    return 0;
}
