#include "lib/l7/proxy/proxy_header.hpp"

#include "lib/l7/byte_reader.hpp"
#include "lib/packet/named_client.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sluice {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kLineBegin = "PROXY ";
constexpr std::string_view kSignature = "\r\n\r\n\0\r\nQUIT\n"sv;
constexpr std::size_t kFixedPart = 16;  // of version 2

std::string_view as_text(ByteView bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool begins_alike(std::string_view bytes, std::string_view whole) noexcept {
    const std::size_t common = std::min(bytes.size(), whole.size());
    return bytes.substr(0, common) == whole.substr(0, common);
}

ProxyHeader malformed(std::uint8_t version, ProxyFault fault) noexcept {
    return {.status = ProxyStatus::Malformed, .fault = fault, .version = version};
}

ProxyHeader need(std::size_t bytes) noexcept {
    return {.need = bytes};
}

// The words of a line, one space between each two.
class Words {
public:
    explicit Words(std::string_view line) noexcept : rest_{line} {}

    std::string_view next() noexcept {
        const std::size_t space = rest_.find(' ');
        const std::string_view word = rest_.substr(0, space);
        is_done_ = space == std::string_view::npos;
        rest_ = is_done_ ? std::string_view{} : rest_.substr(space + 1);
        return word;
    }
    [[nodiscard]] bool is_done() const noexcept { return is_done_; }

private:
    std::string_view rest_;
    bool is_done_ = false;
};

std::optional<std::uint16_t> read_port(std::string_view text) noexcept {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    return is_whole ? std::optional{port} : std::nullopt;
}

ProxyHeader read_line(std::string_view line, std::size_t size) noexcept {
    Words words{line.substr(kLineBegin.size())};
    const std::string_view family = words.next();
    ProxyHeader header{.status = ProxyStatus::Complete, .version = 1, .size = size};
    if (family == "UNKNOWN") {
        return header;  // whatever follows on the line
    }
    const auto source = parse_address(words.next());
    const auto destination = parse_address(words.next());
    const auto port = read_port(words.next());
    const auto to_port = read_port(words.next());
    const IpVersion version = family == "TCP4"   ? IpVersion::V4
                              : family == "TCP6" ? IpVersion::V6
                                                 : IpVersion::None;
    const bool is_whole = words.is_done() && source && destination && port && to_port &&
                          source->version == version && destination->version == version;
    if (!is_whole) {
        return malformed(1, ProxyFault::BadLine);
    }
    header.kind = ProxyClient::Named;
    header.client = named_client(*source);
    header.port = *port;
    return header;
}

ProxyHeader read_version_1(std::string_view bytes) noexcept {
    const std::string_view room = bytes.substr(0, kMaxProxyLine);
    const std::size_t end = room.find('\n');
    if (end == std::string_view::npos) {
        return room.size() < kMaxProxyLine ? need(room.size() + 1)
                                           : malformed(1, ProxyFault::NoLineEnd);
    }
    if (end <= kLineBegin.size() || room[end - 1] != '\r') {
        return malformed(1, ProxyFault::BadLine);
    }
    return read_line(room.substr(0, end - 1), end + 1);
}

// The bytes of a family's addresses and ports; nullopt: there is no such family or protocol.
std::optional<std::size_t> addresses_of(unsigned family, unsigned protocol) noexcept {
    constexpr std::array<std::size_t, 4> kSizes{0, 12, 36, 216};
    const bool is_known =
        family < kSizes.size() && protocol <= 2 && (family == 0) == (protocol == 0);
    return is_known ? std::optional{kSizes[family]} : std::nullopt;
}

void read_source(ByteReader& reader, unsigned family, ProxyHeader& header) noexcept {
    const bool is_v4 = family == 1;
    const std::size_t size = is_v4 ? 4 : sizeof(IpAddress);
    const ByteView source = reader.take(size);
    (void)reader.take(size);
    header.kind = ProxyClient::Named;
    VersionedAddress client{is_v4 ? IpVersion::V4 : IpVersion::V6, {}};
    std::copy(source.begin(), source.end(), client.address.bytes.begin());
    header.client = named_client(client);
    header.port = reader.be16();
}

ProxyHeader read_version_2(ByteView bytes) noexcept {
    constexpr unsigned kLocal = 0x20;
    constexpr unsigned kProxy = 0x21;
    if (bytes.size() < kFixedPart) {
        return need(kFixedPart);
    }
    ByteReader reader{bytes.subspan(kSignature.size())};
    const unsigned command = reader.u8();
    const unsigned family = reader.u8();
    const std::size_t behind = reader.be16();
    if (command != kLocal && command != kProxy) {
        return malformed(2, ProxyFault::BadVersion);
    }
    const auto addresses = addresses_of(family >> 4, family & 0xFU);
    if (!addresses) {
        return malformed(2, ProxyFault::BadFamily);
    }
    if (command == kProxy && behind < *addresses) {
        return malformed(2, ProxyFault::TooShort);
    }
    if (kFixedPart + behind > kMaxProxyHeader) {
        return malformed(2, ProxyFault::BeyondLimit);
    }
    if (bytes.size() < kFixedPart + behind) {
        return need(kFixedPart + behind);
    }
    ProxyHeader header{.status = ProxyStatus::Complete, .version = 2, .size = kFixedPart + behind};
    if (command == kLocal) {
        header.kind = ProxyClient::Local;
    } else if (family >> 4 == 1 || family >> 4 == 2) {
        read_source(reader, family >> 4, header);
    }
    return header;
}

}  // namespace

ProxyHeader read_proxy_header(ByteView so_far) noexcept {
    const std::string_view bytes = as_text(so_far);
    if (begins_alike(bytes, kLineBegin)) {
        return bytes.size() < kLineBegin.size() ? need(bytes.size() + 1) : read_version_1(bytes);
    }
    if (begins_alike(bytes, kSignature)) {
        return bytes.size() < kSignature.size() ? need(kFixedPart) : read_version_2(so_far);
    }
    return {.status = ProxyStatus::NotProxy};
}

}  // namespace sluice
