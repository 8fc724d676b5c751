#pragma once
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/body_framing.hpp"
#include "lib/l7/http1/head_finder.hpp"
#include "lib/l7/http1/wanted_headers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The values of one wanted header or cookie. Conditions read the first; a proxy adds its own header
// behind those that the client sent, so a count from the right begins with the last.
struct HeaderText {
    ByteView first;
    ByteView last;
};

enum class HttpUpgrade : std::uint8_t {
    None,
    H2c,    // RFC 7540, 3.2
    Other,  // WebSocket for one
};

// What one request's head says. Texts are views into the head, or into the room for normalised
// texts; those without data are absent (http1::is_present).
class RequestHead {
public:
    ByteView method;  // as sent, as is the target
    ByteView target;
    ByteView path;   // normalised (path.hpp); absent in CONNECT
    ByteView query;  // as sent, without the ?; absent without one
    ByteView host;   // normalised (host.hpp); of the target, else of the header
    HeadShapes shapes;
    BodyFraming body;
    std::uint32_t size = 0;  // of the head, in bytes
    std::uint8_t minor_version = 1;
    bool keep_alive = true;  // another request may follow on the connection
    HttpUpgrade upgrade = HttpUpgrade::None;

    // By a place of WantedHeaders; absent for NameTable::kNone.
    [[nodiscard]] HeaderText header(std::uint8_t place) const noexcept {
        return has(headers_present_, place) ? headers_[place] : HeaderText{};
    }
    [[nodiscard]] HeaderText header(FramingHeader which) const noexcept {
        return header(static_cast<std::uint8_t>(which));
    }
    [[nodiscard]] HeaderText cookie(std::uint8_t place) const noexcept {
        return has(cookies_present_, place) ? cookies_[place] : HeaderText{};
    }

    // False: not the first of its name.
    bool add_header(std::uint8_t place, ByteView value) noexcept {
        return add(headers_present_, place, value, headers_[place]);
    }
    bool add_cookie(std::uint8_t place, ByteView value) noexcept {
        return add(cookies_present_, place, value, cookies_[place]);
    }
    // As new; the places of texts are not written to, which would cost more than a head.
    void clear() noexcept {
        method = target = path = query = host = {};
        shapes = {};
        body = {};
        size = 0;
        minor_version = 1;
        keep_alive = true;
        upgrade = HttpUpgrade::None;
        headers_present_ = cookies_present_ = 0;
    }

private:
    [[nodiscard]] static bool has(std::uint64_t present, std::uint8_t place) noexcept {
        return place < NameTable::kMaxNames && (present >> place & 1) != 0;
    }
    static bool add(std::uint64_t& present, std::uint8_t place, ByteView value,
                    HeaderText& texts) noexcept {
        const bool is_first = !has(present, place);
        present |= std::uint64_t{1} << place;
        if (is_first) {
            texts.first = value;
        }
        texts.last = value;
        return is_first;
    }
    static_assert(NameTable::kMaxNames <= 64, "presence is a bit each");

    std::uint64_t headers_present_ = 0;
    std::uint64_t cookies_present_ = 0;
    std::array<HeaderText, WantedHeaders::kMaxHeaders> headers_{};
    std::array<HeaderText, WantedHeaders::kMaxCookies> cookies_{};
};

// Reads a head that HeadFinder has found, all of it and nothing behind it. Whatever its shapes,
// every text is what the table says it is read as.
void read_request_head(ByteView bytes, const WantedHeaders& wanted, MutableBytes room,
                       RequestHead& head) noexcept;

struct HeadOptions {
    const WantedHeaders& wanted;
    std::size_t limit = kDefaultHeadLimit;  // bytes
};

// Both in one, and faster than one after the other: for bytes that begin with a head. `head` is
// filled if the status is Complete. With NeedMore and TooLong, `has_line` is
// HeadFinder::has_line().
struct FoundHead {
    HeadStatus status = HeadStatus::NotHttp;
    std::size_t size = 0;  // of Complete and H2Preface
    bool has_line = false;
};
[[nodiscard]] FoundHead find_request_head(ByteView bytes, const HeadOptions& options,
                                          MutableBytes room, RequestHead& head) noexcept;
[[nodiscard]] inline HeadStatus parse_request_head(ByteView bytes, const HeadOptions& options,
                                                   MutableBytes room, RequestHead& head) noexcept {
    return find_request_head(bytes, options, room, head).status;
}

}  // namespace sluice
