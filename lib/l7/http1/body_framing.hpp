#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/ambiguity.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

#include <cstdint>

namespace sluice {

// The end of the body behind a request's head (RFC 9112, 6.3), and with it where the next head of
// the connection begins.
struct BodyFraming {
    enum class Kind : std::uint8_t {
        None,
        Length,
        Chunked,
        UntilClose,  // CONNECT, and a framing that cannot be trusted: no head follows for certain
    };
    Kind kind = Kind::None;
    std::uint64_t length = 0;  // of Length

    [[nodiscard]] bool operator==(const BodyFraming&) const noexcept = default;
};

// The framing headers of one request, value by value in their order; what they say together.
class FramingReader {
public:
    void add_content_length(const http1::ReadableText& value, HeadShapes& shapes) noexcept;
    void add_transfer_encoding(const http1::ReadableText& value) noexcept;
    [[nodiscard]] BodyFraming framing(std::uint8_t minor_version,
                                      HeadShapes& shapes) const noexcept;

private:
    void add_length(ByteView digits, HeadShapes& shapes) noexcept;
    void add_coding(ByteView coding) noexcept;

    std::uint64_t length_ = 0;
    bool has_length_ = false;
    bool is_length_bad_ = false;
    bool has_encoding_ = false;
    bool is_encoding_bad_ = false;
    bool is_chunked_ = false;  // by the last coding
};

}  // namespace sluice
