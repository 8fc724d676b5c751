#pragma once
#include "lib/l7/http1/request_head.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

// What tests of heads begin with.
namespace sluice::test {

inline const WantedHeaders& wanted() {
    static const Result<WantedHeaders> names = WantedHeaders::make(
        {"User-Agent", "referer", "X-Forwarded-For", "A", "x_kind", "X-Kind"}, {"sid", "b"});
    return *names;
}

// A head out of a buffer of its own size, so that a read beyond it is seen.
struct ParsedHead {
    explicit ParsedHead(std::string_view text, std::size_t limit = kDefaultHeadLimit,
                        std::size_t room_size = std::size_t{16} << 10,
                        ReadingStance stance = ReadingStance::Anywhere)
        : bytes(text.size()), room(room_size) {
        std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.begin());
        const FoundHead found = find_request_head(bytes, {wanted(), limit, stance}, room, head);
        status = found.status;
        fault = found.fault;
    }
    [[nodiscard]] std::string header(std::string_view name) const {
        return std::string{http1::as_text(head.header(wanted().header(bytes_of(name))).first)};
    }
    [[nodiscard]] std::string cookie(std::string_view name) const {
        return std::string{http1::as_text(head.cookie(wanted().cookie(bytes_of(name))).first)};
    }

    std::vector<std::byte> bytes;
    std::vector<std::byte> room;
    RequestHead head;
    HeadStatus status;
    LineFault fault;
};
// A head as a server of HTTP is sent it.
inline ParsedHead parsed_for_service(std::string_view text, std::size_t limit = kDefaultHeadLimit) {
    return ParsedHead{text, limit, std::size_t{16} << 10, ReadingStance::Service};
}

inline std::string text(ByteView bytes) {
    return std::string{http1::as_text(bytes)};
}
inline std::string names_of(HeadShapes shapes) {
    std::string names;
    for (const HeadShapeRow& row : kHeadShapes) {
        if (shapes.has(row.shape)) {
            names += (names.empty() ? "" : " ") + std::string{row.name};
        }
    }
    return names;
}

// Bytes as C++ would write them.
inline std::string quoted(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 32 && byte <= 126) {
            out += c;
            continue;
        }
        char escape[8];
        std::snprintf(escape, sizeof(escape), "\\x%02x", byte);
        out += c == '\r' ? "\\r" : c == '\n' ? "\\n" : escape;
    }
    return out;
}

}  // namespace sluice::test
