#include "lib/l7/http1/request_head.hpp"

#include "tests/unit/l7/http1/head_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::request_head_test {
namespace {

using namespace test;

const std::string kOk = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

TEST(RequestHead, SaysWhatIsAskedFor) {
    const ParsedHead get{
        "GET //shop/%7ejo?id=1&x=%2e HTTP/1.1\r\nHost: Shop.Example:8080\r\n"
        "USER-AGENT:  curl/8.0 \t\r\nX-Forwarded-For: 192.0.2.1\r\nAccept: */*\r\n"
        "x-forwarded-for: 192.0.2.2, 192.0.2.3\r\n"
        "Cookie: a=1; sid=abc=; SID=no; b= 2 \r\n\r\nbody"};
    ASSERT_EQ(get.status, HeadStatus::Complete);
    EXPECT_EQ(text(get.head.method), "GET");
    EXPECT_EQ(text(get.head.target), "//shop/%7ejo?id=1&x=%2e");
    EXPECT_EQ(text(get.head.path), "/shop/~jo");
    EXPECT_EQ(text(get.head.query), "id=1&x=%2e");
    EXPECT_EQ(text(get.head.host), "shop.example");
    EXPECT_EQ(get.header("User-Agent"), "curl/8.0");
    EXPECT_EQ(get.header("referer"), "");
    EXPECT_EQ(get.header("accept"), "");  // no rule names it
    const HeaderText forwarded = get.head.header(wanted().header(bytes_of("x-forwarded-for")));
    EXPECT_EQ(text(forwarded.first), "192.0.2.1");
    EXPECT_EQ(text(forwarded.last), "192.0.2.2, 192.0.2.3");
    EXPECT_EQ(get.cookie("sid"), "abc=");
    EXPECT_EQ(get.cookie("b"), "2");
    EXPECT_EQ(get.head.size, get.bytes.size() - 4);
    EXPECT_EQ(get.head.body, BodyFraming{});
    EXPECT_TRUE(get.head.keep_alive);
    EXPECT_EQ(names_of(get.head.shapes), "network_path repeated_header");
    EXPECT_EQ(get.head.shapes.reading(), HeadReading::Accepted);
}

struct TargetRow {
    std::string_view line;
    std::string_view host;
    std::string_view path;
    std::string_view query;
    std::string_view shapes;
};

TEST(RequestHead, ReadsEachFormOfTarget) {
    const TargetRow rows[] = {
        {"GET /a?b?c", "h.example", "/a", "b?c", ""},
        {"GET /?", "h.example", "/", "", ""},
        {"GET http://Other.Example:80/x?y", "other.example", "/x", "y", "hosts_differ"},
        {"GET http://H.example.", "h.example", "/", "", ""},
        {"GET https://h.example?q", "h.example", "/", "q", ""},
        {"GET http://u@h.example/", "u@h.example", "/", "", "hosts_differ bad_host"},
        {"GET http:///x", "", "/x", "", "hosts_differ bad_host"},
        {"CONNECT h.example:443", "h.example", "", "", ""},
        {"CONNECT /x", "h.example", "/x", "", "target_form"},
        {"OPTIONS *", "h.example", "*", "", ""},
        {"GET *", "h.example", "*", "", "target_form"},
        {"GET x/y?z", "h.example", "x/y", "z", "target_form"},
        {"GET /a#b?c", "h.example", "/a", "", "fragment"},
        {"GET //x/a", "h.example", "/x/a", "", "network_path"},
        {"GET //x:80/a", "h.example", "/x:80/a", "", "network_path"},
        {"GET //x:y/a", "h.example", "/x:y/a", "", "network_path bad_network_host"},
        {"GET //%78/a", "h.example", "/x/a", "", "network_path bad_network_host"},
        {"GET //u:%40@x?/@", "h.example", "/u:%40@x", "/@", "encoded_reserved network_path"},
        {"GET //u@x:80:80/a", "h.example", "/u@x:80:80/a", "", "network_path bad_network_host"},
        {"GET ///127.1/a", "h.example", "/127.1/a", "", "network_path bad_network_host"},
        {"GET //?x", "h.example", "/", "x", "network_path"},
        {"GET /\\x?\\", "h.example", "/\\x", "\\", "backslash network_path"},
        {"GET /?//x\\", "h.example", "/", "//x\\", ""},
        {"GET http://[::1]/a", "[::1]", "/a", "", "hosts_differ"},
        {"GET /a b", "h.example", "/a b", "", "space_in_target"},
        {"GET  /a", "h.example", "/a", "", "request_line_space"},
        {"GET\t/a", "h.example", "/a", "", "request_line_space"},
        {"GET /\xE9", "h.example", "/%E9", "", "high_byte_in_target"},
        {"GET /\x01", "h.example", "/\x01", "", "control_byte"},
    };
    for (const TargetRow& row : rows) {
        const ParsedHead parsed =
            parsed_for_service(std::string{row.line} + " HTTP/1.1\r\nHost: h.example\r\n\r\n");
        ASSERT_EQ(parsed.status, HeadStatus::Complete) << row.line;
        EXPECT_EQ(text(parsed.head.host), row.host) << row.line;
        EXPECT_EQ(text(parsed.head.path), row.path) << row.line;
        EXPECT_EQ(text(parsed.head.query), row.query) << row.line;
        EXPECT_EQ(names_of(parsed.head.shapes), row.shapes) << row.line;
    }
}

struct ShapeRow {
    std::string_view what;
    std::string head;
    std::string_view shapes;
    HeadReading reading;
};

// Each shape of the table alone, as one test may say what it is.
std::vector<ShapeRow> shape_rows() {
    using enum HeadReading;
    const std::string get = "GET / HTTP/1.1\r\n";
    const std::string host = get + "Host: h\r\n";
    const auto with = [&](const std::string& lines) { return host + lines + "\r\n"; };
    return {
        {"an empty line", "\r\n" + with(""), "empty_line_first", Accepted},
        {"LF", "GET / HTTP/1.1\nHost: h\r\n\r\n", "bare_lf", Ambiguous},
        {"LF at the end", host + "\n", "bare_lf", Ambiguous},
        {"CR in a value", with("A: b\rC: d\r\n"), "bare_cr", Ambiguous},
        {"NUL", with(std::string("A: \0\r\n", 6)), "nul", Malformed},
        {"a control", with("A: \x1b\r\n"), "control_byte", Ambiguous},
        {"DEL", with("A: \x7f\r\n"), "control_byte", Ambiguous},
        {"a high byte", with("A: \xe9\r\n"), "high_byte_in_header", Accepted},
        {"a high blank", with("A: b\xa0\r\n"), "high_byte_in_header high_space_in_header",
         Ambiguous},
        {"two behind UTF-8", with("A: \xc3\xa0\xa0\r\n"), "high_byte_in_header", Accepted},
        {"blank behind", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", "request_line_space", Ambiguous},
        {"a % alone", "GET /% HTTP/1.1\r\nHost: h\r\n\r\n", "bad_percent", Ambiguous},
        {"above root", "GET /.. HTTP/1.1\r\nHost: h\r\n\r\n", "dot_segment above_root", Accepted},
        {"%2F", "GET /a%2Fb HTTP/1.1\r\nHost: h\r\n\r\n", "encoded_slash", Ambiguous},
        {"%00", "GET /a%00b HTTP/1.1\r\nHost: h\r\n\r\n", "encoded_nul", Ambiguous},
        {"%3B", "GET /a%3Bb HTTP/1.1\r\nHost: h\r\n\r\n", "encoded_reserved", Accepted},
        {"a backslash", "GET /a\\b HTTP/1.1\r\nHost: h\r\n\r\n", "backslash", Accepted},
        {"two slashes", "GET //a/b HTTP/1.1\r\nHost: h\r\n\r\n", "network_path", Accepted},
        {"two slashes and no host", "GET //a%41/b HTTP/1.1\r\nHost: h\r\n\r\n",
         "network_path bad_network_host", Ambiguous},
        {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", "other_version", Ambiguous},
        {"HTTP/1.10", "GET / HTTP/1.10\r\nHost: h\r\n\r\n", "other_version", Ambiguous},
        {"HTTP/11.x", "GET / HTTP/11.x\r\nHost: h\r\n\r\n", "bad_version", Malformed},
        {"http/1.1", "GET / http/1.1\r\nHost: h\r\n\r\n", "bad_version", Malformed},
        {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: h\r\n\r\n", "other_minor_version", Ambiguous},
        {"no Host", get + "\r\n", "no_host", Accepted},
        {"HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", "", Accepted},
        {"two Hosts", with("host: h\r\n"), "duplicate_host", Ambiguous},
        {"an odd Host", get + "Host: a b\r\n\r\n", "bad_host", Ambiguous},
        {"a fold", with("A: b\r\n c\r\n"), "obs_fold", Ambiguous},
        {"a blank line's fold", with("A: b\r\n \r\n"), "obs_fold", Ambiguous},
        {"a blank first", get + " Host: h\r\nHost: h\r\n\r\n", "space_before_first_header",
         Ambiguous},
        {"a blank before the colon", with("A : b\r\n"), "space_before_colon", Ambiguous},
        {"no name", with(": b\r\n"), "empty_header_name", Ambiguous},
        {"a bad name", with("A B: b\r\n"), "bad_header_name", Ambiguous},
        {"a high name", with("A\xe9: b\r\n"), "high_byte_in_header bad_header_name", Ambiguous},
        {"no colon", with("A\r\n"), "no_colon", Ambiguous},
        {"twice", with("A: 1\r\nA: 2\r\n"), "repeated_header", Accepted},
        {"two lines of cookies", with("Cookie: b=1\r\ncookie: c=2\r\n"), "repeated_header",
         Accepted},
        {"two upgrades", with("Upgrade: x\r\nUpgrade: x\r\n"), "repeated_header", Accepted},
        {"cookies", with("Cookie: b=1; b=2\r\n"), "repeated_cookie", Accepted},
        {"one length twice", with("Content-Length: 5\r\ncontent-length: 05\r\n"),
         "duplicate_content_length", Ambiguous},
        {"a list of one length", with("Content-Length: 5, 5\r\n"), "duplicate_content_length",
         Ambiguous},
        {"two lengths", with("Content-Length: 5\r\nContent-Length: 6\r\n"),
         "content_lengths_differ", Ambiguous},
        {"a signed length", with("Content-Length: +5\r\n"), "bad_content_length", Malformed},
        {"no length", with("Content-Length:\r\n"), "bad_content_length", Malformed},
        {"a folded length", with("Content-Length: 1\r\n 0\r\n"), "obs_fold bad_content_length",
         Malformed},
        {"2^63", with("Content-Length: 9223372036854775808\r\n"), "bad_content_length", Malformed},
        {"a long list", with("Content-Length: 5" + std::string(64, '0') + "\r\n"),
         "bad_content_length", Malformed},
        {"no colon in a long line", with(std::string(40, 'a') + "\r\n"), "no_colon", Ambiguous},
        {"a colon behind a long name", with(std::string(40, 'a') + " : b\r\n"),
         "space_before_colon", Ambiguous},
        {"a long bad name", with(std::string(40, 'a') + "( : b\r\n"), "bad_header_name", Ambiguous},
        {"both", with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "length_and_encoding",
         Ambiguous},
        {"chunked not last", with("Transfer-Encoding: chunked, gzip\r\n"), "bad_transfer_encoding",
         Ambiguous},
        {"chunked twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
         "repeated_header bad_transfer_encoding", Ambiguous},
        {"nearly chunked", with("Transfer-Encoding: xchunked\r\n"), "bad_transfer_encoding",
         Ambiguous},
        {"a vertical tab",
         with("Transfer-Encoding: \x0b"
              "chunked\r\n"),
         "control_byte bad_transfer_encoding", Ambiguous},
        {"chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
         "transfer_encoding_in_1_0", Ambiguous},
        {"CONNECT with a body", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 5\r\n\r\n",
         "connect_body", Ambiguous},
        {"CONNECT with chunks",
         "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nTransfer-Encoding: chunked\r\n\r\n",
         "connect_body", Ambiguous},
        {"CONNECT with an empty body",
         "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\nContent-Length: 0\r\n\r\n", "", Accepted},
        {"an expectation", with("Expect: 100-Continue\r\n"), "", Accepted},
        {"another one", with("Expect: x\r\n"), "other_expectation", Ambiguous},
        {"two at once", with("Expect: 100-continue, x\r\n"), "other_expectation", Ambiguous},
        {"none in its place", with("Expect:\r\n"), "", Accepted},
        {"nothing odd", with(""), "", Accepted},
    };
}

TEST(RequestHead, TellsEveryShape) {
    HeadShapes seen;
    for (const ShapeRow& row : shape_rows()) {
        const ParsedHead parsed{row.head};
        ASSERT_EQ(parsed.status, HeadStatus::Complete) << row.what;
        EXPECT_EQ(names_of(parsed.head.shapes), row.shapes) << row.what;
        EXPECT_EQ(parsed.head.shapes.reading(), row.reading) << row.what;
        EXPECT_EQ(row_of(parsed.head.shapes.empty() ? HeadShape::Nul : parsed.head.shapes.reason())
                      .reading,
                  parsed.head.shapes.empty() ? HeadReading::Malformed : row.reading)
            << row.what;
        seen.add(parsed.head.shapes);
    }
    // Shapes of targets, of paths cut, of names alike, of bodies and of chunks have tests of their
    // own.
    for (const HeadShape other :
         {HeadShape::AlikeHeader, HeadShape::HighByteInTarget, HeadShape::SpaceInTarget,
          HeadShape::TargetForm, HeadShape::Fragment, HeadShape::PathTooLong,
          HeadShape::HostsDiffer, HeadShape::RequestInBody, HeadShape::ChunkLineSpace,
          HeadShape::BadChunk, HeadShape::BadMethod, HeadShape::MethodCase,
          HeadShape::MissingVersion}) {
        EXPECT_FALSE(seen.has(other));
        seen.add(other);
    }
    for (const HeadShapeRow& row : kHeadShapes) {
        EXPECT_TRUE(seen.has(row.shape)) << row.name << " is shown by no row";
    }
}

struct BodyRow {
    std::string_view line;
    std::string_view headers;
    BodyFraming body;
    bool keep_alive;
};

TEST(RequestHead, SaysWhereTheBodyEnds) {
    using enum BodyFraming::Kind;
    const BodyRow rows[] = {
        {"GET / HTTP/1.1", "", {None}, true},
        {"GET / HTTP/1.0", "", {None}, false},
        {"GET / HTTP/1.0", "Connection: Keep-Alive\r\n", {None}, true},
        {"GET / HTTP/1.1", "Connection: x, Close\r\n", {None}, false},
        {"POST / HTTP/1.1", "Content-Length: 0\r\n", {None}, true},
        {"POST / HTTP/1.1", "Content-Length: 007\r\n", {Length, 7}, true},
        {"POST / HTTP/1.1", "Content-Length: 5,5\r\n", {Length, 5}, true},
        {"POST / HTTP/1.1", "Content-Length: 5,6\r\n", {UntilClose}, false},
        {"POST / HTTP/1.1",
         "Content-Length: 9223372036854775807\r\n",
         {Length, 9223372036854775807ULL},
         true},
        {"POST / HTTP/1.1", "Transfer-Encoding: Chunked\r\n", {Chunked}, true},
        {"POST / HTTP/1.1", "Transfer-Encoding:\r\n chunked\r\n", {Chunked}, true},
        {"POST / HTTP/1.1",
         "Transfer-Encoding: gzip;q=1\r\nTransfer-Encoding: chunked\r\n",
         {Chunked},
         true},
        {"POST / HTTP/1.1", "Transfer-Encoding: identity\r\n", {UntilClose}, false},
        {"POST / HTTP/1.1", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", {Chunked}, true},
        {"CONNECT h:1 HTTP/1.1", "", {None}, true},
        {"CONNECT h:1 HTTP/1.1", "Content-Length: 3\r\n", {Length, 3}, true},
    };
    for (const BodyRow& row : rows) {
        const std::string head =
            std::string{row.line} + "\r\nHost: h\r\n" + std::string{row.headers} + "\r\n";
        const ParsedHead parsed{head};
        ASSERT_EQ(parsed.status, HeadStatus::Complete) << head;
        EXPECT_EQ(parsed.head.body.kind, row.body.kind) << head;
        EXPECT_EQ(parsed.head.body.length, row.body.length) << head;
        EXPECT_EQ(parsed.head.keep_alive, row.keep_alive) << head;
    }
}

TEST(RequestHead, KnowsAnUpgradeToHttp2) {
    const auto upgrade = [](const std::string& value) {
        return ParsedHead{"GET / HTTP/1.1\r\nUpgrade: " + value + "\r\n\r\n"}.head.upgrade;
    };
    EXPECT_EQ(upgrade("h2c"), HttpUpgrade::H2c);
    EXPECT_EQ(upgrade("websocket, H2C"), HttpUpgrade::H2c);
    EXPECT_EQ(upgrade("h2c;x"), HttpUpgrade::H2c);
    EXPECT_EQ(upgrade("x, H2c ; y"), HttpUpgrade::H2c);
    EXPECT_EQ(upgrade("h2c\tx"), HttpUpgrade::H2c);
    EXPECT_EQ(upgrade("h2cx;h2c"), HttpUpgrade::Other);
    EXPECT_EQ(upgrade("WebSocket"), HttpUpgrade::WebSocket);
    EXPECT_EQ(upgrade("websocket, x"), HttpUpgrade::Other);
    EXPECT_EQ(upgrade("x\r\nUpgrade: h2c"), HttpUpgrade::H2c);
    EXPECT_EQ(upgrade(""), HttpUpgrade::None);
    EXPECT_EQ(ParsedHead{"CONNECT h:1 HTTP/1.1\r\nUpgrade: h2c\r\n\r\n"}.head.upgrade,
              HttpUpgrade::Connect);
}

TEST(RequestHead, SaysWhichLinesAskForAnUpgrade) {
    const std::string first = "\r\nGET / HTTP/1.1\r\nHost: h\r\n";
    const std::string asks = "Upgrade: h2c\r\nHTTP2-settings : AAMA\r\n BBBB\r\n";
    const ParsedHead parsed{first + asks + "A: b\r\nupgrade:\r\n\r\n"};
    ASSERT_EQ(parsed.status, HeadStatus::Complete);
    const auto lines = parsed.head.upgrade_lines.lines();
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].begin, first.size());
    EXPECT_EQ(lines[0].end, lines[1].begin);
    EXPECT_EQ(lines[1].end, first.size() + asks.size());
    EXPECT_EQ(lines[2].end, parsed.head.size - 2);
    EXPECT_FALSE(parsed.head.upgrade_lines.is_cut());
    std::string many = "GET / HTTP/1.1\r\n";
    for (int i = 0; i < 5; ++i) {
        many += "Upgrade: x\r\n";
    }
    const ParsedHead cut{many + "\r\n"};
    EXPECT_TRUE(cut.head.upgrade_lines.is_cut());
    EXPECT_EQ(cut.head.upgrade_lines.lines().size(), UpgradeLines::kMost);
}

struct ServiceRow {
    std::string head;
    std::string_view method, target;
    std::string_view shapes;
};

// Heads as a server of each kind reads them.
TEST(RequestHead, ReadsWhatSomeServerServes) {
    const std::string end = "\r\nHost: h\r\n\r\n";
    const std::vector<ServiceRow> rows{
        {"\rGET /x HTTP/1.1" + end, "GET", "/x", "empty_line_first bare_cr"},
        {" GET /x HTTP/1.1" + end, "GET", "/x", "request_line_space"},
        {"\v\fGET /x HTTP/1.1" + end, "GET", "/x", "control_byte request_line_space"},
        {"GET\r/x\x1fHTTP/1.1" + end, "GET", "/x", "bare_cr control_byte request_line_space"},
        {"GET /x\xa0HTTP/1.1" + end, "GET", "/x", "request_line_space"},
        {"GET /x\xa0 HTTP/1.1" + end, "GET", "/x\xa0", "high_byte_in_target request_line_space"},
        {"G(T /x HTTP/1.1" + end, "G(T", "/x", "bad_method"},
        {"GeT /x HTTP/1.1" + end, "GeT", "/x", "method_case"},
        {"Head /x HTTP/1.1" + end, "Head", "/x", "bad_method method_case"},
        {"CONNECt h:80 HTTP/1.1" + end, "CONNECt", "h:80", "bad_method method_case target_form"},
        {"headx /x HTTP/1.1" + end, "headx", "/x", "method_case"},
        {"G`[|~T /x HTTP/1.1" + end, "G`[|~T", "/x", "bad_method"},
        {"G`|~T /x HTTP/1.1" + end, "G`|~T", "/x", ""},
        {std::string(40, 'M') + "z  /x HTTP/1.1" + end,
         std::string_view{"MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMz"}, "/x",
         "request_line_space method_case"},
        {std::string(40, 'M') + " /x HTTP/1.1" + end,
         std::string_view{"MMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMMM"}, "/x", ""},
        {"GET /x HTTP/0.9" + end, "GET", "/x", "other_version"},
        {"GET /x RTSP/1.0" + end, "GET", "/x", "other_version"},
        {"GET /x HTTP/+1.1" + end, "GET", "/x", "other_version"},
        {"GET /x\r\n", "GET", "/x", "missing_version"},
        {"GET /x\n", "GET", "/x", "bare_lf missing_version"},
        {"GET http://H/x \r\n", "GET", "http://H/x", "request_line_space missing_version"},
    };
    for (const ServiceRow& row : rows) {
        const ParsedHead parsed = parsed_for_service(row.head + "POST /other HTTP/1.1\r\n\r\n");
        ASSERT_EQ(parsed.status, HeadStatus::Complete) << row.head;
        EXPECT_EQ(parsed.head.size, row.head.size()) << row.head;
        EXPECT_EQ(text(parsed.head.method), row.method) << row.head;
        EXPECT_EQ(text(parsed.head.target), row.target) << row.head;
        EXPECT_EQ(names_of(parsed.head.shapes), row.shapes) << row.head;
    }
}

TEST(RequestHead, SaysWhereTheConnectionEnds) {
    const std::string post = "POST /x HTTP/1.1\r\nHost: h\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::pair<std::string, bool> rows[] = {
        {post + "\r\n", false},
        {post + "Content-Length: 3, 3\r\n\r\n", false},
        {post + chunked + "\r\n", false},
        {"CONNECT h:1 HTTP/1.1\r\n\r\n", false},
        {"GET /x\r\n", true},
        {post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", true},
        {post + "Content-Length: +3\r\n\r\n", true},
        {post + "Content-Length: 3\r\n" + chunked + "\r\n", true},
        {post + "Transfer-Encoding: chunked, chunked\r\n\r\n", true},
        {"POST /x HTTP/1.0\r\n" + chunked + "\r\n", true},
    };
    for (const auto& [head, ends] : rows) {
        const ParsedHead parsed = parsed_for_service(head);
        ASSERT_EQ(parsed.status, HeadStatus::Complete) << head;
        EXPECT_EQ(parsed.head.ends_connection(), ends) << head;
    }
}

TEST(RequestHead, ATextWithoutRoomIsCutAndTold) {
    const ParsedHead parsed{"GET /%41%42%43 HTTP/1.1\r\nHost: ABC\r\n\r\n", kDefaultHeadLimit, 3};
    ASSERT_EQ(parsed.status, HeadStatus::Complete);
    EXPECT_EQ(text(parsed.head.path), "/AB");
    EXPECT_EQ(text(parsed.head.host), "");
    EXPECT_EQ(names_of(parsed.head.shapes), "path_too_long bad_host");
}

TEST(RequestHead, IsTheSameForEveryPieceAndNeededToItsLastByte) {
    for (const ShapeRow& row : shape_rows()) {
        for (std::size_t size = 0; size < row.head.size(); ++size) {
            EXPECT_EQ(ParsedHead{row.head.substr(0, size)}.status, HeadStatus::NeedMore)
                << row.what << size;
        }
        const ParsedHead longer{row.head + kOk};
        EXPECT_EQ(longer.head.size, row.head.size()) << row.what;
        EXPECT_EQ(names_of(longer.head.shapes), row.shapes) << row.what;
    }
}

TEST(RequestHead, WasUsedBeforeAndForgetsIt) {
    ParsedHead parsed{
        "POST /x?y HTTP/1.0\r\nHost: h\r\nUpgrade: h2c\r\nA: 1\r\nCookie: b=1\r\n"
        "Content-Length: 5\r\n\r\n"};
    const std::string next = "GET / HTTP/1.1\r\n\r\n";
    ASSERT_EQ(parse_request_head(bytes_of(next), {wanted()}, parsed.room, parsed.head),
              HeadStatus::Complete);
    EXPECT_FALSE(http1::is_present(parsed.head.host));
    EXPECT_FALSE(http1::is_present(parsed.head.query));
    EXPECT_EQ(parsed.header("a"), "");
    EXPECT_EQ(parsed.cookie("b"), "");
    EXPECT_EQ(parsed.head.body, BodyFraming{});
    EXPECT_EQ(parsed.head.upgrade, HttpUpgrade::None);
    EXPECT_TRUE(parsed.head.keep_alive);
}

}  // namespace
}  // namespace sluice::request_head_test
