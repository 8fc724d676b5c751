#pragma once
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/body_framing.hpp"
#include "lib/l7/http1/further_values.hpp"
#include "lib/l7/http1/head_finder.hpp"
#include "lib/l7/http1/wanted_headers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The values of one wanted header or cookie. Conditions read the first; a proxy adds its own header
// behind those that the client sent, so a count from the right begins with the last.
struct HeaderText {
    ByteView first;
    ByteView last;
};

// The upgrade that a request asks for. Until the server agrees (101, of CONNECT 2xx), a connection
// stays what it was: most servers serve such a request like any other, and the next one behind it.
enum class HttpUpgrade : std::uint8_t {
    None,
    H2c,        // RFC 7540, 3.2, whatever else is asked for beside it
    WebSocket,  // and nothing else
    Other,
    Connect,  // the method
};

// Bytes of a head.
struct HeadRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    [[nodiscard]] bool operator==(const HeadRange&) const noexcept = default;
};
// The lines of Upgrade and HTTP2-Settings in their order, each with its folded lines and its end.
class UpgradeLines {
public:
    static constexpr std::size_t kMost = 4;

    void add(HeadRange line) noexcept {
        if (count_ < kMost) {
            lines_[count_] = line;
        }
        count_ += count_ <= kMost ? 1 : 0;
    }
    void clear() noexcept { count_ = 0; }
    // The head begins so many bytes earlier.
    void shift(std::uint32_t bytes) noexcept {
        for (std::size_t i = 0; i < lines().size(); ++i) {
            lines_[i].begin += bytes;
            lines_[i].end += bytes;
        }
    }
    [[nodiscard]] std::span<const HeadRange> lines() const noexcept {
        return {lines_.data(), count_ < kMost ? count_ : kMost};
    }
    // There are more than are kept.
    [[nodiscard]] bool is_cut() const noexcept { return count_ > kMost; }

private:
    std::size_t count_ = 0;
    std::array<HeadRange, kMost> lines_{};
};

// The contents of one request's head. Texts are views into the head, or into the room for
// normalised texts; those without data are absent (http1::is_present).
class RequestHead {
public:
    ByteView method;  // as sent, as is the target
    ByteView target;
    ByteView path;   // normalised (path.hpp); absent in the authority form
    ByteView query;  // as sent, without the ?; absent without one
    ByteView host;   // normalised (host.hpp); of the target, else of the header
    HeadShapes shapes;
    BodyFraming body;
    std::uint32_t size = 0;  // of the head, in bytes
    std::uint8_t minor_version = 1;
    bool keep_alive = true;  // another request may follow on the connection
    HttpUpgrade upgrade = HttpUpgrade::None;
    UpgradeLines upgrade_lines;
    FurtherValues further;          // of headers that rules name
    FurtherValues further_cookies;  // likewise, with a bound of their own

    // Behind this request no byte of the connection can be told to be another request's, or some
    // server takes it for one and another for the end: HTTP/0.9, and a body whose framing servers
    // do not agree on. The server closes, or is made to.
    [[nodiscard]] bool ends_connection() const noexcept {
        constexpr HeadShapes kEnds{HeadShape::MissingVersion, HeadShape::LengthAndEncoding,
                                   HeadShape::TransferEncodingIn10, HeadShape::ConnectBody};
        return body.kind == BodyFraming::Kind::UntilClose || !shapes.among(kEnds).empty();
    }

    // By a place of WantedHeaders; absent for NameTable::kNone.
    [[nodiscard]] HeaderText header(std::uint8_t place) const noexcept {
        return has(headers_present_, place) ? headers_[place] : HeaderText{};
    }
    [[nodiscard]] HeaderText header(FramingHeader which) const noexcept {
        return header(static_cast<std::uint8_t>(which));
    }
    // The headers that came, of those with these places, a bit each.
    [[nodiscard]] std::uint64_t present(std::uint64_t places) const noexcept {
        return headers_present_ & places;
    }
    // The values of headers whose names are alike (WantedHeaders::kAlike).
    [[nodiscard]] HeaderText alike(std::uint8_t place) const noexcept {
        return has(alike_present_, place) ? alike_[place] : HeaderText{};
    }
    [[nodiscard]] HeaderText cookie(std::uint8_t place) const noexcept {
        return has(cookies_present_, place) ? cookies_[place] : HeaderText{};
    }

    // Comes back the last of its name so far; absent: it is the first.
    ByteView add_header(std::uint8_t place, ByteView value) noexcept {
        return add(headers_present_, place, value, headers_[place]);
    }
    ByteView add_alike(std::uint8_t place, ByteView value) noexcept {
        return add(alike_present_, place, value, alike_[place]);
    }
    ByteView add_cookie(std::uint8_t place, ByteView value) noexcept {
        return add(cookies_present_, place, value, cookies_[place]);
    }
    // Makes it as new; the places of texts are not written to, which would cost more than a head.
    void clear() noexcept {
        method = target = path = query = host = {};
        shapes = {};
        body = {};
        size = 0;
        minor_version = 1;
        keep_alive = true;
        upgrade = HttpUpgrade::None;
        upgrade_lines.clear();
        further.clear();
        further_cookies.clear();
        headers_present_ = cookies_present_ = alike_present_ = 0;
    }

private:
    [[nodiscard]] static bool has(std::uint64_t present, std::uint8_t place) noexcept {
        return place < NameTable::kMaxNames && (present >> place & 1) != 0;
    }
    static ByteView add(std::uint64_t& present, std::uint8_t place, ByteView value,
                        HeaderText& texts) noexcept {
        const bool is_first = !has(present, place);
        const ByteView before = is_first ? ByteView{} : texts.last;
        present |= std::uint64_t{1} << place;
        if (is_first) {
            texts.first = value;
        }
        texts.last = value;
        return before;
    }
    static_assert(NameTable::kMaxNames <= 64, "presence is a bit each");

    std::uint64_t headers_present_ = 0;
    std::uint64_t cookies_present_ = 0;
    std::uint64_t alike_present_ = 0;
    std::array<HeaderText, WantedHeaders::kMaxHeaders> headers_{};
    std::array<HeaderText, WantedHeaders::kMaxHeaders> alike_{};
    std::array<HeaderText, WantedHeaders::kMaxCookies> cookies_{};
};

// Reads a head that HeadFinder has found, all of it and nothing behind it. Whatever its shapes,
// every text is what the table says it is read as.
void read_request_head(ByteView bytes, const WantedHeaders& wanted, MutableBytes room,
                       RequestHead& head) noexcept;

struct HeadOptions {
    const WantedHeaders& wanted;
    std::size_t limit = kDefaultHeadLimit;  // bytes
    ReadingStance stance = ReadingStance::Anywhere;
};

// Both in one, and faster than one after the other: for bytes that begin with a head. `head` is
// filled if the status is Complete. With NeedMore and TooLong, `has_line` is
// HeadFinder::has_line(); with NotHttp, `fault` is HeadFinder::fault().
struct FoundHead {
    HeadStatus status = HeadStatus::NotHttp;
    std::size_t size = 0;  // of Complete and H2Preface
    bool has_line = false;
    LineFault fault = LineFault::None;
};
[[nodiscard]] FoundHead find_request_head(ByteView bytes, const HeadOptions& options,
                                          MutableBytes room, RequestHead& head) noexcept;
[[nodiscard]] inline HeadStatus parse_request_head(ByteView bytes, const HeadOptions& options,
                                                   MutableBytes room, RequestHead& head) noexcept {
    return find_request_head(bytes, options, room, head).status;
}

}  // namespace sluice
