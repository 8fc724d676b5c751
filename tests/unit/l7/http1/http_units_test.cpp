#include "lib/l7/http1/http_units.hpp"

#include "lib/l7/http1/doubts_of_readings.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::http_units_test {
namespace {

using test::octets_of;
using test::ProbedPacket;
using test::segment;
using test::UnitProbe;

constexpr Instant kNow{std::chrono::hours{1}};

// The reader of requests alone: what it says of the bytes of one packet.
class Reader {
public:
    explicit Reader(ReadingStance stance, OnAmbiguous on_ambiguous = OnAmbiguous::Both)
        : http_{on_ambiguous}, stance_{stance} {}
    // The packets are of an enforced service.
    void declare() {
        service_.mode = Mode::Enforce;
        probe_.service = test::enforced_service(ServiceProtocol::Http);
    }
    // Of one that monitors, which counts what it would refuse.
    void monitor() {
        service_.mode = Mode::Monitor;
        probe_.service = &service_;
    }

    ProbedPacket read(std::string_view bytes) {
        return probe_.take(segment(1, octets_of(bytes)), kNow);
    }

    void note_all_doubts() { http_.note_doubts_by(&doubts_of_readings); }

    [[nodiscard]] const StreamReading& reading() const { return reading_; }
    [[nodiscard]] const RequestDoubts& doubts() const { return probe_.doubts(); }
    [[nodiscard]] const RequestHead& head() const { return http_.head(); }

private:
    static void find(void* parser, const UnitSource& packet, UnitSink& units) noexcept {
        Reader& reader = *static_cast<Reader*>(parser);
        const ByteView payload = packet.frame.bytes.subspan(packet.headers.payload_at);
        UnitSource source = packet;
        source.service.service =
            reader.stance_ == ReadingStance::Service ? &reader.service_ : nullptr;
        const StreamContext context{.packet = source, .head_bytes = kDefaultHeadLimit};
        reader.reading_ = reader.http_.read(payload, context, units);
    }
    [[nodiscard]] UnitFinder finder() {
        UnitFinder finder{.find = &find, .parser = this, .texts = {}};
        for (const TextFieldRow& row : kTextFields) {
            finder.texts.add(row.field);
        }
        return finder;
    }

    HttpUnits http_;
    ReadingStance stance_;
    Service service_;  // with its defaults
    StreamReading reading_;
    UnitProbe probe_{finder()};
};

using What = StreamReading::What;
using std::string_literals::operator""s;

TEST(HttpUnits, ServesAServiceWhatAnyServerServes) {
    Reader service{ReadingStance::Service};
    service.declare();
    const ProbedPacket old = service.read("GET /x?q\r\n");
    EXPECT_EQ(service.reading().what, What::Unit);
    EXPECT_EQ(service.reading().head, 10U);
    EXPECT_TRUE(service.reading().ends_connection);
    ASSERT_EQ(old.units("request"), 1U);
    EXPECT_EQ(old.dropped, "");
    EXPECT_EQ(old.texts[0].at("http.request.method"), "GET");
    EXPECT_EQ(old.texts[0].at("http.request.uri.path"), "/x");
    EXPECT_EQ(old.texts[0].at("http.request.uri.query"), "q");
    const ProbedPacket odd = service.read("\r GET\v/x HTTP/2.0\r\nHost: h\r\n\r\n");
    ASSERT_EQ(odd.units("request"), 1U);
    EXPECT_EQ(odd.dropped, "ambiguous_request");
    EXPECT_EQ(odd.texts[0].at("http.request.uri.path"), "/x");
    Reader refuses{ReadingStance::Service, OnAmbiguous::Refuse};
    refuses.declare();
    EXPECT_EQ(refuses.read("GET /x\r\n").dropped, "ambiguous_request");
}

// For an explanation a request that is refused is told apart from one that `both` would judge, by
// the same code: each of its readings is made.
TEST(HttpUnits, TellOfWhatIsRefusedAllThatBothWouldFind) {
    const std::string post = "POST /y HTTP/1.1\r\nHost: a.example\r\n";
    struct Row {
        std::string request;
        DoubtOutcome under_both;
    };
    const std::vector<Row> rows{
        {post + "Host: b.example\r\n\r\n", DoubtOutcome::Judged},
        {post + "Host: 0x7f.1\r\n\r\n", DoubtOutcome::Refused},
        {"GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n", DoubtOutcome::Judged},
        {"GET //h:x/a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n", DoubtOutcome::Refused},
        {"GET /x/../a%2Fb%3Bc y HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", DoubtOutcome::Refused},
        {"GET / HTTP/1.0\n\n", DoubtOutcome::Refused},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.request);
        Reader both{ReadingStance::Service};
        both.declare();
        EXPECT_EQ(both.read(row.request).dropped.empty(), row.under_both == DoubtOutcome::Judged);
        EXPECT_EQ(both.doubts().outcome(), row.under_both);
        Reader refuses{ReadingStance::Service, OnAmbiguous::Refuse};
        refuses.declare();
        refuses.note_all_doubts();
        const ProbedPacket refused = refuses.read(row.request);
        EXPECT_EQ(refused.dropped, "ambiguous_request");
        EXPECT_EQ(refused.units("request"), 1U);  // the others are thrown away
        EXPECT_EQ(refuses.doubts().outcome(), row.under_both);
        EXPECT_EQ(refuses.doubts().shapes, both.doubts().shapes);
        EXPECT_EQ(refuses.doubts().too_many_readings, both.doubts().too_many_readings);
    }
}

TEST(HttpUnits, FindsNoRequestWhereNoServerDoes) {
    Reader service{ReadingStance::Service};
    EXPECT_EQ(service.read("EHLO x\r\n").units("request"), 0U);
    EXPECT_EQ(service.reading().what, What::NotMine);
    const ProbedPacket preface = service.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    EXPECT_EQ(service.reading().what, What::NotMine);
    EXPECT_EQ(preface.events.at("h2c_preface"), 1U);
}

TEST(HttpUnits, GivesUpElsewhereWithoutAWord) {
    Reader anywhere{ReadingStance::Anywhere};
    for (const std::string_view bytes :
         {"EHLO x\r\n", "GET /x\r\n", "USER x", "RFB 003.008\n", "\rGET / HTTP/1.1\r\n\r\n"}) {
        const ProbedPacket packet = anywhere.read(bytes);
        EXPECT_EQ(anywhere.reading().what, bytes == "USER x" ? What::NeedMore : What::NotMine)
            << bytes;
        EXPECT_EQ(packet.dropped, "") << bytes;
    }
}

struct BodyRow {
    std::string head;
    UnitBody::Kind service;
    bool ends;
    UnitBody::Kind anywhere;
    HttpUpgrade upgrade = HttpUpgrade::None;
};

TEST(HttpUnits, SaysHowARequestGoesOn) {
    using enum UnitBody::Kind;
    const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::vector<BodyRow> rows{
        {post + "\r\n", Sized, false, Sized},
        {post + "Content-Length: 3\r\n\r\n", Sized, false, Sized},
        {post + chunked + "\r\n", Framed, false, Framed},
        {post + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n", Sized, false, Sized},
        {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n", Framed, false, Sized},
        {post + "Content-Length: 3\r\n" + chunked + "\r\n", Sized, true, Framed},
        {post + "Content-Length: +3\r\n\r\n", Sized, true, Unknown},
        {post + "Transfer-Encoding: x\r\n\r\n", Sized, true, Unknown},
        {post + "Upgrade: websocket\r\n\r\n", Sized, false, Sized, HttpUpgrade::WebSocket},
        {"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n", Sized, false, Unknown, HttpUpgrade::Connect},
    };
    for (const BodyRow& row : rows) {
        Reader service{ReadingStance::Service};
        (void)service.read(row.head);
        EXPECT_EQ(service.reading().what, What::Unit) << row.head;
        EXPECT_EQ(service.reading().body.kind, row.service) << row.head;
        EXPECT_EQ(service.reading().ends_connection, row.ends) << row.head;
        EXPECT_EQ(service.reading().upgrade, row.upgrade) << row.head;
        Reader anywhere{ReadingStance::Anywhere};
        (void)anywhere.read(row.head);
        EXPECT_EQ(anywhere.reading().body.kind, row.anywhere) << row.head;
        EXPECT_FALSE(anywhere.reading().ends_connection) << row.head;
    }
}

// The paths that one of the six servers makes of a target, in whatever order, the normal form
// first.
struct PathRow {
    std::string target;
    std::vector<std::string> paths;
    bool is_ambiguous = false;  // servers disagree on more than an accepted doubt
};

const std::vector<PathRow> kPathRows{
    {"/login", {"/login"}},
    {"/%6Cogin", {"/login"}},
    {"//login", {"/login", "/"}},
    {"//h/login", {"/h/login", "/login"}},
    {"//u@h:1//login", {"/u@h:1/login", "/login"}},
    {"///h/x/../login", {"/h/login", "/login", "///h/x/../login"}},
    {"//static//a.js", {"/static/a.js", "/a.js"}},
    {"/\\login", {"/\\login", "/login", "/"}},
    {"/x\\login", {"/x\\login", "/x/login"}},
    {"/x\\..\\login", {"/x\\..\\login", "/x/../login", "/login"}},
    {"/\\h\\login?q\\", {"/\\h\\login", "/h/login", "/login"}},
    {"/%5clogin", {"/%5Clogin", "/\\login"}},
    {"/login/x//..", {"/login/", "/login/x//..", "/login/x/"}},
    {"/a//%2e./login", {"/login", "/a//%2e./login", "/a/login"}},
    {"http://a//h/login", {"/h/login"}},
    {"http:/login", {"http:/login", "/login", "/http:/login"}, true},
    {"http:login", {"http:login", "/login", "/http:login"}, true},
    {"\\login", {"\\login", "/login", "/\\login", "/"}, true},
    {"/./login", {"/login", "/./login"}},
    {"/x/../login", {"/login", "/x/../login"}},
    {"/x/%2e%2e/login", {"/login", "/x/%2e%2e/login"}},
    {"http://a/x/../login", {"/login", "/x/../login"}},
    {"/x%2F..%2Flogin", {"/x%2F..%2Flogin", "/login"}, true},
    {"/x%2F../login", {"/x%2F../login", "/login"}, true},
    {"/y/./x%2F..%2flogin", {"/y/x%2F..%2Flogin", "/y/login", "/y/./x%2F..%2flogin"}, true},
    {"/a%3Ab", {"/a%3Ab", "/a:b"}},
    {"/x/%2e%2e/a%3ab", {"/a%3Ab", "/a:b", "/x/%2e%2e/a%3ab"}},
    {"/a%2Fb%3Bc", {"/a%2Fb%3Bc", "/a/b%3Bc", "/a%2Fb;c", "/a/b;c"}, true},
    {"/x/../a%2Fb%3Bc", {"/a%2Fb%3Bc", "/a/b%3Bc", "/a%2Fb;c", "/a/b;c", "/x/../a%2Fb%3Bc"}, true},
    {"/%zz/../login", {"/login", "/%zz/../login"}, true},
    {"/x/../login#y", {"/login", "/x/../login", "/login#y", "/x/../login#y"}, true},
    {"/x/../login y", {"/login y", "/x/../login y", "/login", "/x/../login"}, true},
    {"x/../login", {"x/../login", "/login", "/x/../login"}, true},
};

void expect_paths(const ProbedPacket& packet, const PathRow& row) {
    std::vector<std::string> paths;
    for (const auto& texts : packet.texts) {
        paths.push_back(texts.at("http.request.uri.path"));
    }
    ASSERT_FALSE(paths.empty());
    EXPECT_EQ(paths.front(), row.paths.front());
    // Each once, but for those that a target's host has beside the header's.
    const std::set<std::string> met{paths.begin(), paths.end()};
    EXPECT_EQ(met, (std::set<std::string>{row.paths.begin(), row.paths.end()}));
    const bool has_host = row.target.size() > 1 && "/\\"s.find(row.target[1]) != std::string::npos;
    EXPECT_TRUE(paths.size() == met.size() || has_host || row.target[0] == '\\');
}

TEST(HttpUnits, JudgesEachPathThatServersMakeOfATarget) {
    for (const PathRow& row : kPathRows) {
        SCOPED_TRACE(row.target);
        const std::string request = "GET " + row.target + " HTTP/1.1\r\nHost: a\r\n\r\n";
        Reader both{ReadingStance::Service};
        both.declare();
        const ProbedPacket judged = both.read(request);
        EXPECT_EQ(judged.dropped, "");
        EXPECT_FALSE(both.reading().is_doubtful);
        expect_paths(judged, row);
        Reader refuses{ReadingStance::Service, OnAmbiguous::Refuse};
        refuses.declare();
        const ProbedPacket refused = refuses.read(request);
        EXPECT_EQ(refused.dropped, row.is_ambiguous ? "ambiguous_request" : "");
        if (!row.is_ambiguous) {
            expect_paths(refused, row);
        }
        Reader anywhere{ReadingStance::Anywhere, OnAmbiguous::Refuse};
        const ProbedPacket passed = anywhere.read(request);
        if (anywhere.reading().what == What::Unit) {
            EXPECT_EQ(passed.dropped, "");
            EXPECT_FALSE(anywhere.reading().is_doubtful);
            expect_paths(passed, row);
        }
    }
}

// What monitors refuses nothing, so that a server may take any of them; nor does what is of no
// service. A head with a folded line has the same paths.
TEST(HttpUnits, JudgesEachPathWhereNothingIsRefused) {
    for (const PathRow& row : kPathRows) {
        for (const std::string line : {"", "X: a\r\n b\r\n"}) {
            SCOPED_TRACE(row.target + line);
            const std::string request =
                "GET " + row.target + " HTTP/1.1\r\nHost: a\r\n" + line + "\r\n";
            Reader monitors{ReadingStance::Service, OnAmbiguous::Refuse};
            monitors.monitor();
            expect_paths(monitors.read(request), row);
            Reader anywhere{ReadingStance::Anywhere, OnAmbiguous::Refuse};
            const ProbedPacket passed = anywhere.read(request);
            if (anywhere.reading().what == What::Unit) {
                expect_paths(passed, row);
            }
        }
    }
}

// Each host and each path of a request.
TEST(HttpUnits, JudgesPathsAndHostsInAllCombinations) {
    Reader both{ReadingStance::Service};
    both.declare();
    const ProbedPacket packet = both.read("GET /x/../a%2Fb HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    EXPECT_EQ(packet.dropped, "");
    std::set<std::string> met;
    for (const auto& texts : packet.texts) {
        met.insert(texts.at("http.host") + texts.at("http.request.uri.path"));
    }
    EXPECT_EQ(met, (std::set<std::string>{"a/a%2Fb", "a/a/b", "a/x/../a%2Fb", "b/a%2Fb", "b/a/b",
                                          "b/x/../a%2Fb"}));
    EXPECT_EQ(packet.texts.size(), met.size());
}

// Under either option the host behind two slashes and the header's are judged, with the paths that
// they have; so are the hosts of a target and of the header.
TEST(HttpUnits, JudgesTheHostsOfATargetAndOfTheHeader) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        const auto hosts = [&](const std::string& target) {
            Reader reader{ReadingStance::Service, option};
            reader.declare();
            const ProbedPacket packet =
                reader.read("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
            EXPECT_EQ(packet.dropped, "") << target;
            std::set<std::string> met;
            for (const auto& texts : packet.texts) {
                met.insert(texts.at("http.host") + texts.at("http.request.uri.path"));
            }
            EXPECT_EQ(met.size(), packet.texts.size()) << target;
            return met;
        };
        using Hosts = std::set<std::string>;
        EXPECT_EQ(hosts("//B.example:80/x"), (Hosts{"a/B.example:80/x", "a/x", "b.example/x"}));
        EXPECT_EQ(hosts("//u@b/x"), (Hosts{"a/u@b/x", "a/x", "b/x"}));
        EXPECT_EQ(hosts("//u@:80/x"), (Hosts{"a/u@:80/x", "a/x"})) << "no host";
        EXPECT_EQ(hosts("http://[::1]/x"), (Hosts{"[::1]/x", "a/x"}));
        EXPECT_EQ(hosts("http://a/x"), (Hosts{"a/x"}));
    }
}

// Behind two slashes, some read a host that others do not.
TEST(HttpUnits, RefusesAHostThatIsNoneOfAPath) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        for (const char* target : {"//b<c/x", "//b:x/y", "/\\%62/x", "///127.1"}) {
            Reader reader{ReadingStance::Service, option};
            reader.declare();
            EXPECT_EQ(
                reader.read("GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n\r\n").dropped,
                "ambiguous_request")
                << target;
        }
    }
}

// Three texts in one place are not told apart.
TEST(HttpUnits, RefusesThreeTargets) {
    Reader both{ReadingStance::Service};
    both.declare();
    EXPECT_EQ(both.read("GET /a#b c HTTP/1.1\r\nHost: a\r\n\r\n").dropped, "ambiguous_request");
}

TEST(HttpUnits, AServicesStreamMayBeginWithAnyByte) {
    const std::string bytes = "\v";
    EXPECT_TRUE(HttpUnits::may_begin(bytes_of(bytes), ReadingStance::Service));
    EXPECT_FALSE(HttpUnits::may_begin(bytes_of(bytes)));
}

}  // namespace
}  // namespace sluice::http_units_test
