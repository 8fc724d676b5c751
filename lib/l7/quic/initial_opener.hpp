#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/crypto/cipher_context.hpp"
#include "lib/l7/quic/initial_keys.hpp"
#include "lib/l7/quic/long_header.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace sluice {

// A connection id by value: it outlives the datagram.
class ConnectionId {
public:
    static constexpr std::size_t kMaxSize = 20;
    ConnectionId() noexcept = default;
    // Bytes behind kMaxSize are cut off: ids of known versions are not longer.
    explicit ConnectionId(ByteView id) noexcept;
    [[nodiscard]] ByteView bytes() const noexcept { return ByteView{bytes_}.first(size_); }
    [[nodiscard]] bool operator==(const ConnectionId&) const noexcept = default;

private:
    std::array<std::byte, kMaxSize> bytes_{};
    std::uint8_t size_ = 0;
};

// Removes what protects a client's Initials (RFC 9001, section 5). The contexts are made once, and
// keyed anew for every connection: nothing is allocated after make(). The keys of the last
// connection are kept, so that the packets of one datagram share theirs. One per worker.
class InitialOpener {
public:
    // NotSupported: OpenSSL lacks AES-128-ECB or AES-128-GCM.
    [[nodiscard]] static Result<InitialOpener> make();

    // The payload, good until the next call. nullopt: not by a client that began its connection
    // with `client_dcid`, or damaged. The packet has can_open().
    [[nodiscard]] std::optional<ByteView> open(const QuicPacket& packet,
                                               ByteView client_dcid) noexcept;

private:
    struct Number {
        std::array<std::byte, 4> bytes;  // the first `size` count
        std::size_t size;
        std::byte first;  // the packet's first byte without its protection
    };

    InitialOpener(CipherContext header, CipherContext payload);
    void use_keys(std::uint32_t version, ByteView client_dcid) noexcept;
    [[nodiscard]] bool unmask(const QuicPacket& packet, Number& number) noexcept;
    [[nodiscard]] bool authenticate_header(const QuicPacket& packet, const Number& number) noexcept;

    CipherContext header_;
    CipherContext payload_;
    std::unique_ptr<std::byte[]> plain_;
    InitialKeys keys_{};
    ConnectionId keyed_for_;
    std::uint32_t keyed_version_ = 0;  // 0: for nobody yet
};

}  // namespace sluice
