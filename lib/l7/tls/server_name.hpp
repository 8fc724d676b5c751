#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// Kinds of the name in a server_name extension.
enum class ServerNameKind : std::uint8_t {
    Absent,
    HostName,  // labels of letters, digits, '-' and '_', as DNS has them
    Address,   // as text, which RFC 6066 forbids and clients send
};

// The server_name of a hello (RFC 6066, section 3), in small letters and without the dot of the
// root, an address of IPv6 as RFC 5952 writes it, so that one server has one name. Holds its own
// text: `www.Example.com` on the wire is in no byte of the frame.
class ServerName {
public:
    static constexpr std::size_t kMaxSize = 255;  // as the longest that servers take

    // False: it is no host name and no address (empty, too long, with any byte that labels do not
    // have), so that one server takes it for another name than the next one: nginx serves
    // `name:443` as `name`, Caddy and Traefik trim white space and fold letters beyond ASCII, and
    // who compares names as IDNA has them takes `xn--name-` for `name`. Then it is Absent.
    [[nodiscard]] bool assign(ByteView name) noexcept;
    void clear() noexcept { size_ = 0, kind_ = ServerNameKind::Absent; }

    [[nodiscard]] ServerNameKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

private:
    [[nodiscard]] bool assign_address(std::string_view name) noexcept;

    std::array<char, kMaxSize> text_;  // the first size_ are set
    std::uint8_t size_ = 0;
    ServerNameKind kind_ = ServerNameKind::Absent;
};

}  // namespace sluice
