#pragma once
#include "lib/base/result.hpp"
#include "lib/l7/http1/name_table.hpp"

#include <array>
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

    // Beside a place: a name that programs take for that header's, and for the others of its
    // alike(), which keep letters and digits alone apart.
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
        return place != NameTable::kNone ? place : find_alike(name);
    }
    // The places of the rules' headers whose names are alike to that of this one, and its own; a
    // bit each.
    [[nodiscard]] std::uint64_t alike(std::uint8_t place) const noexcept { return alike_[place]; }
    // The places of those that are alike to another one.
    [[nodiscard]] std::uint64_t paired() const noexcept { return paired_; }
    // Every value of this header matters, not its ends alone.
    [[nodiscard]] bool keeps_all(std::uint8_t place) const noexcept {
        return (whole_ >> place & 1) != 0;
    }
    // Lets the header's ends alone matter. So it is with headers of the framing that no rule names.
    void keep_ends(std::uint8_t place) noexcept { whole_ &= ~(std::uint64_t{1} << place); }
    [[nodiscard]] std::uint8_t cookie(const http1::ReadableText& name) const noexcept {
        return cookies_.find(name);
    }

    [[nodiscard]] const NameTable& headers() const noexcept { return headers_; }
    [[nodiscard]] const NameTable& cookies() const noexcept { return cookies_; }

private:
    WantedHeaders(std::vector<std::string> headers, std::vector<std::string> cookies);

    void note_alike(std::uint8_t place);
    // The first of the rules' headers, not of the framing's.
    [[nodiscard, gnu::cold, gnu::noinline]] std::uint8_t find_alike(ByteView name) const noexcept;

    NameTable headers_;
    NameTable cookies_;
    NameTable joined_;              // the rules' headers in their order, each joint a -
    bool has_other_joint_ = false;  // than -, in a name of the rules
    std::uint64_t paired_ = 0;
    std::uint64_t whole_ = 0;  // places of which all values matter
    std::array<std::uint64_t, kMaxHeaders> alike_{};
};

}  // namespace sluice
