#pragma once
#include "lib/base/result.hpp"
#include "lib/l7/http1/name_table.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// Headers that the framing, the host and the cookies come from. They have the first places among
// the wanted headers of any rule set.
enum class FramingHeader : std::uint8_t {
    Host,
    ContentLength,
    TransferEncoding,
    Connection,
    Cookie,
    Upgrade,
    Http2Settings,
    Expect,
};
inline constexpr std::size_t kFramingHeaderCount = 8;

// The headers and cookies that the rules of one set name: what a RequestHead keeps. Made when a
// rule set is loaded, read by all workers.
class WantedHeaders {
public:
    static constexpr std::size_t kMaxHeaders = NameTable::kMaxNames;
    static constexpr std::size_t kMaxCookies = NameTable::kMaxNames;

    // Names of headers are tokens, of either case; those of cookies are tokens as they are sent.
    // Repeated names are one name.
    [[nodiscard]] static Result<WantedHeaders> make(const std::vector<std::string>& headers,
                                                    const std::vector<std::string>& cookies);

    // Beside a place: of the header with this place to programs that know _ and . for - alone.
    static constexpr std::uint8_t kAlike = 0x80;
    static_assert(kMaxHeaders <= kAlike && (NameTable::kNone & kAlike) != 0);

    // A place among RequestHead's headers or cookies; NameTable::kNone: not kept.
    [[nodiscard]] std::uint8_t header(const http1::ReadableText& name) const noexcept {
        return headers_.find(name);
    }
    // Likewise of a name that is not empty, and lies at the beginning of a block; kAlike and a
    // place: of one that is alike.
    [[nodiscard]] std::uint8_t header(ByteView name, http1::Block begin) const noexcept {
        if (!headers_.may_have(name.front(), name.size())) {
            return NameTable::kNone;
        }
        const std::uint8_t place = headers_.find(name, begin);
        return place != NameTable::kNone ? place : alike(name);
    }
    [[nodiscard]] std::uint8_t cookie(const http1::ReadableText& name) const noexcept {
        return cookies_.find(name);
    }

    [[nodiscard]] const NameTable& headers() const noexcept { return headers_; }
    [[nodiscard]] const NameTable& cookies() const noexcept { return cookies_; }

private:
    WantedHeaders(std::vector<std::string> headers, std::vector<std::string> cookies)
        : headers_{std::move(headers), true}, cookies_{std::move(cookies), false} {}

    // Places of the rules' headers, not of the framing's.
    [[nodiscard, gnu::cold, gnu::noinline]] std::uint8_t alike(ByteView name) const noexcept;

    NameTable headers_;
    NameTable cookies_;
};

}  // namespace sluice
