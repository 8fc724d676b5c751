#pragma once
#include "tests/packets/frame.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// ClientHellos for tests, well formed unless a call says otherwise:
//   HelloMaker{}.sni("example.com").alpn({"h2"}).records(3)
namespace sluice::test {

[[nodiscard]] inline Octets octets_of(std::string_view text) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
}
[[nodiscard]] inline Octets from_hex(std::string_view hex) {
    Octets out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        put8(out, static_cast<unsigned>(std::stoul(std::string{hex.substr(i, 2)}, nullptr, 16)));
    }
    return out;
}
[[nodiscard]] inline Octets pairs(std::initializer_list<unsigned> values) {
    Octets out;
    for (const unsigned value : values) {
        put16(out, value);
    }
    return out;
}
[[nodiscard]] inline Octets behind8(const Octets& part) {
    Octets out;
    put8(out, static_cast<unsigned>(part.size()));
    put(out, part);
    return out;
}
[[nodiscard]] inline Octets behind16(const Octets& part) {
    Octets out;
    put16(out, static_cast<unsigned>(part.size()));
    put(out, part);
    return out;
}

class HelloMaker {
public:
    HelloMaker& legacy_version(std::uint16_t version) { return set(legacy_version_, version); }
    HelloMaker& session_id(Octets id) { return set(session_id_, std::move(id)); }
    HelloMaker& ciphers(Octets list) { return set(ciphers_, std::move(list)); }
    HelloMaker& compression(Octets list) { return set(compression_, std::move(list)); }
    HelloMaker& extension(unsigned type, const Octets& content) {
        put16(extensions_, type);
        put(extensions_, behind16(content));
        return *this;
    }
    HelloMaker& sni(std::string_view name) {
        Octets entry{std::byte{0}};
        put(entry, behind16(octets_of(name)));
        return extension(0, behind16(entry));
    }
    HelloMaker& alpn(std::initializer_list<std::string_view> protocols) {
        Octets list;
        for (const std::string_view protocol : protocols) {
            put(list, behind8(octets_of(protocol)));
        }
        return extension(16, behind16(list));
    }
    HelloMaker& versions(std::initializer_list<unsigned> list) {
        return extension(43, behind8(pairs(list)));
    }
    HelloMaker& algorithms(std::initializer_list<unsigned> list) {
        return extension(13, behind16(pairs(list)));
    }
    HelloMaker& no_extensions() { return set(extended_, false); }
    HelloMaker& trailing(Octets bytes) { return set(trailing_, std::move(bytes)); }

    // The handshake message.
    [[nodiscard]] Octets message() const {
        Octets body;
        put16(body, legacy_version_);
        put(body, Octets(32, std::byte{0x5A}));
        put(body, behind8(session_id_));
        put(body, behind16(ciphers_));
        put(body, behind8(compression_));
        if (extended_) {
            put(body, behind16(extensions_));
        }
        put(body, trailing_);
        Octets out;
        put32(out, static_cast<std::uint32_t>(body.size()) | 0x0100'0000);
        put(out, body);
        return out;
    }
    // The message in records of at most so many bytes.
    [[nodiscard]] Octets records(std::size_t most = 16'384) const {
        return in_records(message(), most);
    }
    [[nodiscard]] static Octets in_records(const Octets& message, std::size_t most = 16'384) {
        Octets out;
        for (std::size_t at = 0; at < message.size(); at += most) {
            const std::size_t size = std::min(most, message.size() - at);
            put8(out, 22);
            put16(out, 0x0301);
            put16(out, static_cast<unsigned>(size));
            out.insert(out.end(), message.begin() + static_cast<std::ptrdiff_t>(at),
                       message.begin() + static_cast<std::ptrdiff_t>(at + size));
        }
        return out;
    }

private:
    template <typename T>
    HelloMaker& set(T& what, T value) {
        what = std::move(value);
        return *this;
    }

    std::uint16_t legacy_version_ = 0x0303;
    Octets session_id_ = Octets(32, std::byte{0xA5});
    Octets ciphers_ = pairs({0x1301, 0x1302});
    Octets compression_ = Octets(1);
    Octets extensions_;
    Octets trailing_;
    bool extended_ = true;
};

}  // namespace sluice::test
