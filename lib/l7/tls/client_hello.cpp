#include "lib/l7/tls/client_hello.hpp"

#include "lib/l7/byte_reader.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kRandomSize = 32;
constexpr std::uint8_t kHostNameType = 0;
// SSL 3.0. What is beyond TLS 1.3 servers read as the highest that they know.
constexpr std::uint16_t kLeastVersion = 0x0300;

bool is_list_of_pairs(ByteView list) noexcept {
    return !list.empty() && list.size() % 2 == 0;
}

// The host name of the list. An extension or list of no bytes and an empty name are no name, which
// OpenSSL or NSS take so; a second name, and a list that is none, are not read.
HelloFault read_server_name(ByteReader content, ClientHello& hello) noexcept {
    hello.has_server_name = true;
    if (content.left() == 0) {
        return HelloFault::None;
    }
    ByteReader list{content.part16()};
    bool good = content.done();
    bool has_host = false;
    while (good && list.left() > 0) {
        const std::uint8_t type = list.u8();
        const ByteView name = list.part16();
        good = list.ok();
        if (good && type == kHostNameType) {
            good = !has_host && (name.empty() || hello.server_name.assign(name));
            has_host = true;
        }
    }
    return good ? HelloFault::None : HelloFault::BadServerName;
}

// An empty list and an empty name count as no protocol.
HelloFault read_alpn(ByteReader content, ClientHello& hello) noexcept {
    ByteReader list{content.part16()};
    if (list.left() > 0) {
        hello.alpn = list.part8();
    }
    while (list.left() > 0) {
        (void)list.part8();
    }
    return content.done() && list.ok() ? HelloFault::None : HelloFault::BadAlpn;
}

HelloFault read_supported_versions(ByteReader content, ClientHello& hello) noexcept {
    const ByteView list = content.part8();
    if (!content.done() || !is_list_of_pairs(list)) {
        return HelloFault::BadSupportedVersions;
    }
    std::uint16_t highest = 0;
    for (std::size_t at = 0; at < list.size(); at += 2) {
        const std::uint16_t version = load_be16(list, at);
        highest = std::max(highest, is_grease(version) ? std::uint16_t{0} : version);
    }
    hello.version = highest == 0 ? hello.version : highest;
    return HelloFault::None;
}

HelloFault read_signature_algorithms(ByteReader content, ClientHello& hello) noexcept {
    hello.signature_algorithms = content.part16();
    return content.done() && is_list_of_pairs(hello.signature_algorithms)
               ? HelloFault::None
               : HelloFault::BadSignatureAlgorithms;
}

HelloFault read_extension(std::uint16_t type, ByteReader content, ClientHello& hello) noexcept {
    switch (type) {
        case kServerNameExtension:
            return read_server_name(content, hello);
        case kSignatureAlgorithmsExtension:
            return read_signature_algorithms(content, hello);
        case kAlpnExtension:
            return read_alpn(content, hello);
        case kSupportedVersionsExtension:
            return read_supported_versions(content, hello);
        default:
            return HelloFault::None;
    }
}

constexpr bool is_read(std::uint16_t type) noexcept {
    return type == kServerNameExtension || type == kSignatureAlgorithmsExtension ||
           type == kAlpnExtension || type == kSupportedVersionsExtension;
}

// Extensions that are read may stand there once, since no server accepts them twice; repeats of
// others some servers ignore it.
HelloFault read_extensions(ClientHello& hello) noexcept {
    std::uint64_t seen = 0;
    for (ByteReader block{hello.extensions}; block.left() > 0;) {
        const std::uint16_t type = block.be16();
        const ByteView content = block.part16();
        if (!block.ok()) {
            return HelloFault::BadExtensions;
        }
        const std::uint64_t bit = is_read(type) ? std::uint64_t{1} << type : 0;
        if ((seen & bit) != 0) {
            return HelloFault::RepeatedExtension;
        }
        seen |= bit;
        const HelloFault fault = read_extension(type, ByteReader{content}, hello);
        if (fault != HelloFault::None) {
            return fault;
        }
    }
    return HelloFault::None;
}

HelloFault read_hello_body(ByteReader body, ClientHello& hello) noexcept {
    hello.legacy_version = body.be16();
    hello.version = hello.legacy_version;
    (void)body.take(kRandomSize);
    hello.session_id = body.part8();
    hello.cipher_suites = body.part16();
    const ByteView compression = body.part8();
    if (!body.ok()) {
        return HelloFault::Truncated;
    }
    if (hello.legacy_version < kLeastVersion) {
        return HelloFault::BadVersion;
    }
    // NSS reads past half a cipher suite at the end, and past a session id of any length.
    hello.cipher_suites = hello.cipher_suites.first(hello.cipher_suites.size() & ~std::size_t{1});
    if (hello.cipher_suites.empty()) {
        return HelloFault::BadCipherSuites;
    }
    if (compression.empty()) {
        return HelloFault::BadCompression;
    }
    if (body.left() == 0) {
        return HelloFault::None;  // up to TLS 1.2 there need be no block of extensions
    }
    hello.extensions = body.part16();
    return body.done() ? read_extensions(hello) : HelloFault::BadExtensions;
}

}  // namespace

void ClientHello::clear() noexcept {
    legacy_version = 0;
    version = 0;
    has_server_name = false;
    server_name.clear();
    session_id = {};
    cipher_suites = {};
    extensions = {};
    signature_algorithms = {};
    alpn = {};
}

HelloRead read_handshake_header(ByteView handshake) noexcept {
    if (handshake.empty()) {
        return {.outcome = HelloOutcome::NeedMore, .at = kHandshakeHeader};
    }
    const std::uint8_t type = load_u8(handshake, 0);
    if (type != kClientHelloType) {
        return {.outcome = HelloOutcome::OtherHandshake, .handshake_type = type};
    }
    if (handshake.size() < kHandshakeHeader) {
        return {.outcome = HelloOutcome::NeedMore, .handshake_type = type, .at = kHandshakeHeader};
    }
    const std::size_t size = kHandshakeHeader + (load_be32(handshake, 0) & 0xFF'FFFF);
    if (size > kMaxHello) {
        return {.outcome = HelloOutcome::Malformed,
                .fault = HelloFault::TooLong,
                .handshake_type = type};
    }
    return {.outcome = HelloOutcome::Whole,
            .handshake_type = type,
            .at = static_cast<std::uint32_t>(size)};
}

HelloRead read_client_hello(ByteView handshake, ClientHello& hello) noexcept {
    HelloRead read = read_handshake_header(handshake);
    if (read.outcome != HelloOutcome::Whole) {
        return read;
    }
    if (read.at > handshake.size()) {
        read.outcome = HelloOutcome::NeedMore;
        return read;
    }
    hello.clear();
    const ByteView body = handshake.first(read.at).subspan(kHandshakeHeader);
    read.fault = read_hello_body(ByteReader{body}, hello);
    if (read.fault != HelloFault::None) {
        read.outcome = HelloOutcome::Malformed;
    }
    return read;
}

}  // namespace sluice
