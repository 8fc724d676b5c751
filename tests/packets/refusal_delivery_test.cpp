#include "tests/packets/answering_box.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// An honest client that sends a second request while the first one is answered, an honest server,
// and links that lose, repeat and reorder. Whatever happens, the client reads the whole answer and
// then the refusal, and the server gets nothing of the second request.
namespace sluice::refusal_delivery_test {
namespace {

using namespace std::chrono_literals;
using test::AnsweringBox;
using test::Frame;
using test::SentFrame;

constexpr std::uint32_t kClient = 0xFFFF'FFE0;  // numbers go on behind their largest
constexpr std::uint32_t kServer = 0xFFFF'FF00;
constexpr std::size_t kPiece = 400;
constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kAck = 0x10;
const std::string kGet = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

struct Segment {
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;
    std::uint16_t flags = kAck;
    std::string text;
};

// One end: bytes to send, bytes received in any order. Sends again whatever is not acknowledged:
// all of it, or, as with SACK, what the other end lacks.
struct End {
    std::uint32_t first;  // of its own numbers
    std::uint32_t theirs;
    std::string out;
    std::size_t acked = 0;   // of `out`
    std::size_t window = 8;  // segments on their way at most
    std::map<std::size_t, std::string> ahead;
    std::string in;
    bool has_fin = false;
    bool is_reset = false;

    [[nodiscard]] std::uint32_t awaited() const {
        return theirs + static_cast<std::uint32_t>(in.size()) + (has_fin ? 1 : 0);
    }
    void take(const Segment& came) {
        if ((came.flags & kRst) != 0) {
            is_reset |= came.seq == awaited();
            return;
        }
        const auto all = static_cast<std::size_t>(came.ack - first);
        acked = all <= out.size() ? std::max(acked, all) : acked;
        const auto at = static_cast<std::int32_t>(came.seq - theirs);
        if (at < 0 || has_fin) {
            return;
        }
        const bool fin = (came.flags & kFin) != 0;
        std::string& kept = ahead[static_cast<std::size_t>(at)];
        if (came.text.size() + (fin ? 1U : 0U) >= kept.size()) {
            kept = came.text + (fin ? "\xFF" : "");  // no answer of this test has such a byte
        }
        for (auto next = ahead.begin(); next != ahead.end() && next->first <= in.size();
             next = ahead.erase(next)) {
            const std::size_t old = in.size() - next->first;
            if (old < next->second.size()) {
                in += next->second.substr(old);
            }
            if (in.ends_with('\xFF')) {
                in.pop_back();
                has_fin = true;
                ahead.clear();
                return;
            }
        }
    }
    [[nodiscard]] bool has(std::size_t at, std::size_t size) const {
        const auto found = ahead.find(at);
        return at + size <= in.size() || (found != ahead.end() && found->second.size() >= size);
    }
    [[nodiscard]] std::vector<Segment> send(const End& other, bool selective) const {
        std::vector<Segment> segments;
        for (std::size_t at = acked / kPiece * kPiece; at < out.size() && segments.size() < window;
             at += kPiece) {
            const std::string text = out.substr(at, kPiece);
            if (!selective || !other.has(at, text.size())) {
                segments.push_back({first + static_cast<std::uint32_t>(at), awaited(), kAck, text});
            }
        }
        if (segments.empty()) {
            segments.push_back(
                {first + static_cast<std::uint32_t>(out.size()), awaited(), kAck, {}});
        }
        return segments;
    }
};

struct Course {
    unsigned seed;
    unsigned lost_percent;
    bool selective;
    std::string answer;
    bool asks_first = false;  // the answer begins once the second request has been refused
};

class Path {
public:
    explicit Path(const Course& course) : course_{course}, chance_{course.seed} {
        box_.prove_clients(false);
        (void)pass({kClient - 1, 0, kSyn, {}}, Direction::In);
        (void)pass({kServer - 1, kClient, kSyn | kAck, {}}, Direction::Out);
        (void)pass({kClient, kServer, kAck, {}}, Direction::In);
    }

    void run() {
        client_.out = kGet;
        for (int round = 0; round < 600 && !client_.has_fin && !client_.is_reset; ++round) {
            now_ += 50ms;
            // Behind the first one at the box, which is the one that its limit has room for.
            if (round >= static_cast<int>(course_.seed % 12) && has_asked_ &&
                client_.out.size() == kGet.size()) {
                client_.out += kGet;
            }
            deliver(requests(), Direction::In);
            const bool begins = !course_.asks_first || has_been_refused_;
            if (server_.in.size() >= kGet.size() && server_.out.empty() && begins) {
                server_.out = course_.answer;
            }
            if (!server_.is_reset) {
                deliver(server_.send(client_, course_.selective), Direction::Out);
            }
        }
    }
    [[nodiscard]] const End& client() const { return client_; }
    [[nodiscard]] const End& server() const { return server_; }
    [[nodiscard]] std::uint64_t count(AnswerEvent event) const { return box_.count(event); }

private:
    static std::string rules() {
        return "version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: request, limits: "
               "[{algorithm: token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: reply, "
               "body: no}}\n";
    }
    [[nodiscard]] std::vector<Segment> requests() const {
        std::vector<Segment> segments;
        for (std::size_t at = client_.acked / kGet.size() * kGet.size(); at < client_.out.size();
             at += kGet.size()) {
            segments.push_back({kClient + static_cast<std::uint32_t>(at), client_.awaited(), kAck,
                                client_.out.substr(at, kGet.size())});
        }
        segments.push_back({kClient + static_cast<std::uint32_t>(client_.out.size()),
                            client_.awaited(),
                            kAck,
                            {}});
        return segments;
    }
    [[nodiscard]] bool happens(unsigned percent) { return chance_() % 100 < percent; }
    // Over a link that loses, repeats and reorders.
    [[nodiscard]] std::vector<Segment> over_a_link(std::vector<Segment> segments) {
        std::vector<Segment> arrived;
        for (const Segment& one : segments) {
            if (!happens(course_.lost_percent)) {
                arrived.push_back(one);
            }
            if (happens(course_.lost_percent)) {
                arrived.push_back(one);
            }
        }
        for (std::size_t i = 1; i < arrived.size(); ++i) {
            if (happens(course_.lost_percent)) {
                std::swap(arrived[i - 1], arrived[i]);
            }
        }
        return arrived;
    }
    void deliver(const std::vector<Segment>& segments, Direction dir) {
        std::vector<Segment> back;
        std::vector<Segment> on;
        for (const Segment& one : over_a_link(segments)) {
            if (pass(one, dir)) {
                on.push_back(one);
            }
            for (const SentFrame& made : box_.made()) {
                const bool is_back = made.headers().sport == (dir == Direction::In ? 80 : 40'000);
                (is_back ? back : on)
                    .push_back({made.seq(), made.ack(), made.headers().tcp_flags, made.text()});
            }
        }
        End& far = dir == Direction::In ? server_ : client_;
        End& near = dir == Direction::In ? client_ : server_;
        for (const Segment& one : over_a_link(on)) {
            far.take(one);
        }
        for (const Segment& one : over_a_link(back)) {
            near.take(one);
        }
    }
    [[nodiscard]] bool pass(const Segment& one, Direction dir) {
        const bool in = dir == Direction::In;
        const Frame frame = test::tcp()
                                .src(in ? "10.0.0.1" : "10.0.0.2")
                                .dst(in ? "10.0.0.2" : "10.0.0.1")
                                .sport(in ? 40'000 : 80)
                                .dport(in ? 80 : 40'000)
                                .seq(one.seq)
                                .ack(one.ack)
                                .flags(one.flags)
                                .carries(test::octets_of(one.text));
        const bool passes = box_.take(frame, dir, now_).back().starts_with("pass");
        has_been_refused_ |= box_.count(AnswerEvent::Waiting) != 0;
        has_asked_ |= in && passes && one.seq == kClient && !one.text.empty();
        return passes;
    }

    const Course& course_;
    std::minstd_rand chance_;
    AnsweringBox box_{rules()};
    Instant now_{1h};
    bool has_asked_ = false;
    bool has_been_refused_ = false;
    End client_{.first = kClient, .theirs = kServer};
    End server_{.first = kServer, .theirs = kClient};
};

std::string length_answer(std::size_t size) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
}
std::string chunked_answer(std::size_t chunk, int chunks) {
    char line[16];
    (void)std::snprintf(line, sizeof(line), "%zx\r\n", chunk);
    std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < chunks; ++i) {
        answer += line + std::string(chunk, 'x') + "\r\n";
    }
    return answer + "0\r\n\r\n";
}

void check(const Course& course) {
    SCOPED_TRACE("seed " + std::to_string(course.seed) + ", " +
                 std::to_string(course.lost_percent) + " % lost" +
                 (course.selective ? ", selective" : ""));
    Path path{course};
    path.run();
    ASSERT_TRUE(path.client().has_fin) << path.client().in.size() << " of " << course.answer.size();
    EXPECT_FALSE(path.client().is_reset);
    ASSERT_EQ(path.client().in.substr(0, course.answer.size()), course.answer);
    EXPECT_TRUE(path.client().in.substr(course.answer.size()).starts_with("HTTP/1.1 429 "));
    EXPECT_EQ(path.server().in, kGet);
    EXPECT_EQ(path.count(AnswerEvent::Unanswered), 0U);
}

TEST(RefusalDelivery, WithoutLoss) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        check({seed, 0, false, length_answer(9000)});
        check({seed, 0, false, chunked_answer(700, 9)});
        check({seed, 0, false, length_answer(0)});
    }
}

TEST(RefusalDelivery, OverLinksThatLoseRepeatAndReorder) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        for (const unsigned lost : {3U, 20U}) {
            check({seed, lost, false, length_answer(9000)});
        }
    }
}

// While a refusal waits, what cannot be read is sent again.
TEST(RefusalDelivery, BehindChunksThatComeInAnyOrder) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        for (const unsigned lost : {3U, 20U}) {
            check({seed, lost, false, chunked_answer(700, 9), true});
            check({seed, lost, true, chunked_answer(700, 9), true});
        }
    }
}

// Bytes that the client has already are not sent again: a length is stepped over all the same.
TEST(RefusalDelivery, WhereOnlyWhatIsLackingComesAgain) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        for (const unsigned lost : {3U, 20U}) {
            check({seed, lost, true, length_answer(9000)});
        }
    }
}

// A chunk's line may be among what the client had before the refusal began to wait, and the box has
// not read: then the refusal never goes, but nothing ever enters the answer.
TEST(RefusalDelivery, NothingEntersAnAnswerWhosePlaceIsLost) {
    int delivered = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Course course{seed, 10, true, chunked_answer(700, 9)};
        Path path{course};
        path.run();
        const std::string& in = path.client().in;
        const std::size_t size = std::min(in.size(), course.answer.size());
        ASSERT_EQ(in.substr(0, size), course.answer.substr(0, size));
        ASSERT_TRUE(size == course.answer.size());
        delivered += path.client().has_fin ? 1 : 0;
        EXPECT_TRUE(in.size() == size || in.substr(size).starts_with("HTTP/1.1 429 "));
    }
    EXPECT_GT(delivered, 0);
}

}  // namespace
}  // namespace sluice::refusal_delivery_test
