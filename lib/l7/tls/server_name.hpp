#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// What the name of a server_name extension is.
enum class ServerNameKind : std::uint8_t {
    Absent,
    HostName,  // labels of letters, digits, '-' and '_', as DNS has them
    Address,   // an address as text, which RFC 6066 forbids and clients send
    Other,
};

// The server_name of a hello (RFC 6066, section 3), in small letters and without the dot of the
// root, and without all that stands behind a colon, so that one server has one name. Other bytes
// that no host name has stay as they came: the kind says so. Holds its own text: `www.Example.com`
// on the wire is in no byte of the frame.
class ServerName {
public:
    static constexpr std::size_t kMaxSize = 255;  // as the longest that servers take

    // False: no server accepts such a name (empty, too long, with a zero byte); then it is Absent.
    [[nodiscard]] bool assign(ByteView name) noexcept;
    void clear() noexcept { size_ = 0, kind_ = ServerNameKind::Absent; }

    [[nodiscard]] ServerNameKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::string_view text() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, kMaxSize> text_;  // the first size_ are set
    std::uint8_t size_ = 0;
    ServerNameKind kind_ = ServerNameKind::Absent;
};

}  // namespace sluice
