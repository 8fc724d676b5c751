#pragma once
#include "lib/base/event_row.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

// Shapes of a request that the grammar of RFC 9112 does not have, or has and some server reads
// otherwise. Request smuggling uses such differences: two servers disagree about where a request
// ends, or about its target. Each shape has one stated reading here, and HeadShapes lists every
// shape of a head. Where servers agree on where the request ends, and each of them has one of two
// texts in some place, the other one is stated too: such a request can be judged as both.
namespace sluice {

enum class HeadReading : std::uint8_t {
    Accepted,   // servers agree, or their disagreement changes nothing that is counted
    Ambiguous,  // some server of note takes it, and another reads it otherwise or refuses it
    Malformed,  // servers refuse it, or nothing can be made of it
};

enum class HeadShape : std::uint8_t {
    EmptyLineFirst,
    BareLf,
    BareCr,
    Nul,
    ControlByte,
    HighByteInTarget,
    HighByteInHeader,
    HighSpaceInHeader,
    RequestLineSpace,
    BadMethod,
    MethodCase,
    SpaceInTarget,
    TargetForm,
    Fragment,
    BadPercent,
    EncodedSlash,
    EncodedReserved,
    EncodedNul,
    DotSegment,
    AboveRoot,
    Backslash,
    NetworkPath,
    BadNetworkHost,
    PathTooLong,
    BadVersion,
    MissingVersion,
    OtherVersion,
    OtherMinorVersion,
    NoHost,
    DuplicateHost,
    HostsDiffer,
    BadHost,
    ObsFold,
    SpaceBeforeFirstHeader,
    SpaceBeforeColon,
    EmptyHeaderName,
    BadHeaderName,
    NoColon,
    RepeatedHeader,
    RepeatedCookie,
    AlikeHeader,
    DuplicateContentLength,
    ContentLengthsDiffer,
    BadContentLength,
    LengthAndEncoding,
    BadTransferEncoding,
    TransferEncodingIn10,
    ConnectBody,
    OtherExpectation,
    RequestInBody,
    ChunkLineSpace,
    BadChunk,
};

struct HeadShapeRow {
    HeadShape shape;
    std::string_view name;
    HeadReading reading;
    std::string_view read_as;
    std::string_view or_as = {};  // by other servers, with the same bytes for its head and body
};

inline constexpr auto kHeadShapes = std::to_array<HeadShapeRow>({
    {HeadShape::EmptyLineFirst, "empty_line_first", HeadReading::Accepted,
     "empty lines before the request line are skipped (RFC 9112, 2.2)"},
    {HeadShape::BareLf, "bare_lf", HeadReading::Ambiguous, "LF without CR ends the line"},
    {HeadShape::BareCr, "bare_cr", HeadReading::Ambiguous, "CR without LF is a byte of its line"},
    {HeadShape::Nul, "nul", HeadReading::Malformed, "a byte of its line"},
    {HeadShape::ControlByte, "control_byte", HeadReading::Ambiguous,
     "below 0x20 but HTAB, or 0x7F: a byte of its line"},
    {HeadShape::HighByteInTarget, "high_byte_in_target", HeadReading::Accepted,
     "as sent; percent-encoded in the normalised path"},
    {HeadShape::HighByteInHeader, "high_byte_in_header", HeadReading::Accepted, "as sent"},
    {HeadShape::HighSpaceInHeader, "high_space_in_header", HeadReading::Ambiguous,
     "0x85 or 0xA0, which wsgiref and Tornado take off, at an end of a value that rules name, but "
     "behind another high byte, as in UTF-8: of the value"},
    {HeadShape::RequestLineSpace, "request_line_space", HeadReading::Ambiguous,
     "any run of SP, HTAB, VT, FF, CR, 0x1C to 0x1F, and where it takes one to make a request 0x85 "
     "and 0xA0, separates method, target and version, and may stand around these"},
    {HeadShape::BadMethod, "bad_method", HeadReading::Ambiguous,
     "a method with a byte that no token has, or HEAD or CONNECT with small letters: as sent"},
    {HeadShape::MethodCase, "method_case", HeadReading::Accepted,
     "a method with small letters: as sent", "in capitals: gunicorn, Django, Werkzeug"},
    {HeadShape::SpaceInTarget, "space_in_target", HeadReading::Ambiguous,
     "the target is all between the method and the version",
     "the target ends before the first blank"},
    {HeadShape::TargetForm, "target_form", HeadReading::Ambiguous,
     "a form that the method does not have (RFC 9112, 3.2), or none: the path is as sent",
     "with a slash before it; not in CONNECT"},
    {HeadShape::Fragment, "fragment", HeadReading::Ambiguous, "path and query end before the #",
     "the # is a byte of the path or the query"},
    {HeadShape::BadPercent, "bad_percent", HeadReading::Ambiguous,
     "% without two hexadecimal digits stands for itself: %25 in the normalised path",
     "the path as sent"},
    {HeadShape::EncodedSlash, "encoded_slash", HeadReading::Ambiguous,
     "%2F in a path is a byte of its segment", "a slash: nginx, lighttpd, Python"},
    {HeadShape::EncodedReserved, "encoded_reserved", HeadReading::Accepted,
     "what may stand in a path as itself, and is no slash, stays encoded",
     "itself: nginx, Apache, Python"},
    {HeadShape::EncodedNul, "encoded_nul", HeadReading::Ambiguous,
     "%00 in a path is a byte of its segment; h2o, mini_httpd and civetweb end the path before it"},
    {HeadShape::DotSegment, "dot_segment", HeadReading::Accepted,
     ". and .. are resolved, encoded or not", "the path as sent: HAProxy, Node"},
    {HeadShape::AboveRoot, "above_root", HeadReading::Accepted, "/.. is / at the root"},
    {HeadShape::Backslash, "backslash", HeadReading::Accepted,
     "a backslash in a path is a byte of its segment",
     "a slash: url.parse() and new URL() of Node"},
    {HeadShape::NetworkPath, "network_path", HeadReading::Accepted,
     "two slashes, or backslashes, at the beginning of a target are one",
     "a host and the path behind it: new URL() of Node, urlsplit() of Python"},
    {HeadShape::BadNetworkHost, "bad_network_host", HeadReading::Ambiguous,
     "the host that some read behind two slashes is bad_host: a path alone",
     "another name, which no rule can name: urlsplit() of Python ends it at the colon of //a:x"},
    {HeadShape::PathTooLong, "path_too_long", HeadReading::Ambiguous,
     "the normalised path is cut where the room for it ends"},
    {HeadShape::BadVersion, "bad_version", HeadReading::Malformed,
     "HTTP/ and anything that no server takes for a version: HTTP/1.1"},
    {HeadShape::MissingVersion, "missing_version", HeadReading::Ambiguous,
     "a method and a target alone: HTTP/0.9, a request that ends with its line, and with it the "
     "connection"},
    {HeadShape::OtherVersion, "other_version", HeadReading::Ambiguous,
     "HTTP/, RTSP/ or ICE/ and two numbers that are not those of HTTP/1: HTTP/1.0 below 1.1, else "
     "HTTP/1.1"},
    {HeadShape::OtherMinorVersion, "other_minor_version", HeadReading::Ambiguous,
     "HTTP/1.2 to HTTP/1.9 is HTTP/1.1 (RFC 9110, 2.5)"},
    {HeadShape::NoHost, "no_host", HeadReading::Accepted, "HTTP/1.1 without Host: none"},
    {HeadShape::DuplicateHost, "duplicate_host", HeadReading::Ambiguous, "the first", "the last"},
    {HeadShape::HostsDiffer, "hosts_differ", HeadReading::Accepted,
     "the target's host, not the header's (RFC 9112, 3.2.2)", "the header's"},
    {HeadShape::BadHost, "bad_host", HeadReading::Ambiguous,
     "what is neither a name of letters, digits, -, _ and ., an address nor a port, or a name "
     "whose last label is a number or with a label xn-- that ends in -: as sent, lower-cased; a "
     "name in brackets: the name, as Apache reads it"},
    {HeadShape::ObsFold, "obs_fold", HeadReading::Ambiguous,
     "a line that begins with SP or HTAB belongs to the value before, line ends included"},
    {HeadShape::SpaceBeforeFirstHeader, "space_before_first_header", HeadReading::Ambiguous,
     "the line is skipped"},
    {HeadShape::SpaceBeforeColon, "space_before_colon", HeadReading::Ambiguous,
     "the name is what stands before the space"},
    {HeadShape::EmptyHeaderName, "empty_header_name", HeadReading::Ambiguous,
     "the line is skipped"},
    {HeadShape::BadHeaderName, "bad_header_name", HeadReading::Ambiguous,
     "a name with a byte that no token has: the line is skipped"},
    {HeadShape::NoColon, "no_colon", HeadReading::Ambiguous, "the line is skipped"},
    {HeadShape::RepeatedHeader, "repeated_header", HeadReading::Accepted,
     "a header that rules name: the first, and the last beside it",
     "the last of each, or one between; more than four of these in all are refused"},
    {HeadShape::RepeatedCookie, "repeated_cookie", HeadReading::Accepted,
     "a cookie that rules name: the first, and the last beside it",
     "the last of each, or one between; more than four of these in all are refused"},
    {HeadShape::AlikeHeader, "alike_header", HeadReading::Accepted,
     "a name that is one of the rules' but for bytes that are no letters and no digits, as _ and . "
     "in the place of -, or - in that of _: another header",
     "that header: programs behind CGI, WSGI, PHP"},
    {HeadShape::DuplicateContentLength, "duplicate_content_length", HeadReading::Ambiguous,
     "several times the same length: that length"},
    {HeadShape::ContentLengthsDiffer, "content_lengths_differ", HeadReading::Ambiguous,
     "the body ends with the connection"},
    {HeadShape::BadContentLength, "bad_content_length", HeadReading::Malformed,
     "not a number below 2^63, or more than 64 bytes: the body ends with the connection"},
    {HeadShape::LengthAndEncoding, "length_and_encoding", HeadReading::Ambiguous,
     "Transfer-Encoding counts, Content-Length does not (RFC 9112, 6.3)"},
    {HeadShape::BadTransferEncoding, "bad_transfer_encoding", HeadReading::Ambiguous,
     "chunked is not the last coding, or not only once: the body ends with the connection"},
    {HeadShape::TransferEncodingIn10, "transfer_encoding_in_1_0", HeadReading::Ambiguous,
     "as in HTTP/1.1"},
    {HeadShape::ConnectBody, "connect_body", HeadReading::Ambiguous,
     "CONNECT with a body, which some servers read as the next request (RFC 9110, 9.3.6: none)"},
    {HeadShape::OtherExpectation, "other_expectation", HeadReading::Ambiguous,
     "Expect with anything but 100-continue or nothing: the body follows, which a server may "
     "refuse, and read "
     "what comes as the next request"},
    {HeadShape::RequestInBody, "request_in_body", HeadReading::Ambiguous,
     "a body that a server may leave unread begins as a request does, or with more than 64 bytes "
     "of "
     "white space: it is the body"},
    {HeadShape::ChunkLineSpace, "chunk_line_space", HeadReading::Ambiguous,
     "SP and HTAB behind the size of a chunk are skipped"},
    {HeadShape::BadChunk, "bad_chunk", HeadReading::Malformed,
     "no size, one of 2^31 or more, no line end behind the data, a trailer that is no field, or "
     "extensions or trailers too long: the next request cannot be found"},
});
inline constexpr std::size_t kHeadShapeCount = kHeadShapes.size();
static_assert(kHeadShapeCount <= 64, "a set of shapes is one word");
static_assert(in_enum_order(kHeadShapes, &HeadShapeRow::shape),
              "kHeadShapes is indexed by HeadShape");

[[nodiscard]] constexpr const HeadShapeRow& row_of(HeadShape shape) noexcept {
    return kHeadShapes[static_cast<std::size_t>(shape)];
}

// A bit for each shape.
[[nodiscard]] constexpr std::uint64_t head_shapes_read_as(HeadReading reading) noexcept {
    std::uint64_t bits = 0;
    for (const HeadShapeRow& row : kHeadShapes) {
        bits |= row.reading == reading ? std::uint64_t{1} << static_cast<unsigned>(row.shape) : 0;
    }
    return bits;
}

// The shapes of one request.
class HeadShapes {
public:
    constexpr HeadShapes() noexcept = default;
    constexpr HeadShapes(std::initializer_list<HeadShape> shapes) noexcept {
        for (const HeadShape shape : shapes) {
            add(shape);
        }
    }

    constexpr void add(HeadShape shape) noexcept { bits_ |= bit(shape); }
    constexpr void add(HeadShapes others) noexcept { bits_ |= others.bits_; }
    constexpr void add_if(bool condition, HeadShape shape) noexcept {
        bits_ |= condition ? bit(shape) : 0;
    }
    [[nodiscard]] constexpr bool has(HeadShape shape) const noexcept {
        return (bits_ & bit(shape)) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
    // The worst reading of any; of none: Accepted.
    [[nodiscard]] constexpr HeadReading reading() const noexcept {
        constexpr std::uint64_t kMalformed = head_shapes_read_as(HeadReading::Malformed);
        constexpr std::uint64_t kAmbiguous = head_shapes_read_as(HeadReading::Ambiguous);
        if ((bits_ & kMalformed) != 0) {
            return HeadReading::Malformed;
        }
        return (bits_ & kAmbiguous) != 0 ? HeadReading::Ambiguous : HeadReading::Accepted;
    }
    // The shapes of both.
    [[nodiscard]] constexpr HeadShapes among(HeadShapes others) const noexcept {
        HeadShapes both;
        both.bits_ = bits_ & others.bits_;
        return both;
    }
    // The shapes that the others are not.
    [[nodiscard]] constexpr HeadShapes without(HeadShapes others) const noexcept {
        HeadShapes rest;
        rest.bits_ = bits_ & ~others.bits_;
        return rest;
    }
    [[nodiscard]] constexpr std::size_t count() const noexcept {
        return static_cast<std::size_t>(std::popcount(bits_));
    }
    // The shapes that are not Accepted.
    [[nodiscard]] constexpr HeadShapes doubts() const noexcept {
        HeadShapes rest;
        rest.bits_ = bits_ & ~head_shapes_read_as(HeadReading::Accepted);
        return rest;
    }
    // The first in the table of the shapes with the worst reading. There is one.
    [[nodiscard]] constexpr HeadShape reason() const noexcept {
        return static_cast<HeadShape>(std::countr_zero(bits_ & head_shapes_read_as(reading())));
    }
    [[nodiscard]] constexpr bool operator==(const HeadShapes&) const noexcept = default;

private:
    [[nodiscard]] static constexpr std::uint64_t bit(HeadShape shape) noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(shape);
    }
    std::uint64_t bits_ = 0;
};

}  // namespace sluice
