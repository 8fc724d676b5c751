#include "lib/engine/worker/packet_asker.hpp"

#include "lib/engine/burst/burst_units.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/memory_box.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// The asker's end of a question about a packet, put to a worker in memory.
namespace sluice::packet_asker_test {
namespace {

using namespace std::chrono_literals;
using test::Frame;
using test::MemoryBox;
using test::tcp;
using test::udp;

constexpr Now kNow{Instant{1h}, {}};

class Question {
public:
    explicit Question(const MemoryBox& box) {
        Result<std::unique_ptr<PacketAsker>> made = PacketAsker::make(
            {.policy = {}, .units = capture_unit_budget(), .secret = test::kBoxSecret},
            box.rules());
        EXPECT_TRUE(made);
        asker_ = *std::move(made);
    }
    void follow(const Frame& frame) {
        const std::vector<std::byte> bytes = frame.bytes();
        asker_->follow(arrival(frame, bytes), kNow);
    }
    void match(const Frame& frame) {
        bytes_ = frame.bytes();
        asker_->match(arrival(frame, bytes_), kNow);
    }
    PacketAnswer answer_of(MemoryBox& box, std::size_t worker = 0) {
        PacketAnswer answer;
        EXPECT_TRUE(box.worker(worker).packets().post(asker_->question()));
        (void)box.poll(worker);
        EXPECT_TRUE(box.worker(worker).packets().take(answer));
        return answer;
    }
    [[nodiscard]] const PacketAsker& asker() const { return *asker_; }

private:
    static AskedArrival arrival(const Frame& frame, const std::vector<std::byte>& bytes) {
        return {{bytes, static_cast<std::uint32_t>(bytes.size())},
                frame.dir(),
                port_name(frame.pair())};
    }

    std::unique_ptr<PacketAsker> asker_;
    std::vector<std::byte> bytes_;
};

test::Octets text(std::string_view said) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(said.data());
    return {bytes, bytes + said.size()};
}

// Of several requests each has a decision of its own; the frames before say where they begin.
TEST(PacketAsker, AsksAboutEachOfSeveralRequests) {
    MemoryBox box{
        "version: 1\ndefaults: {mode: enforce}\nrules:\n"
        "  - {id: r, when: l4.dport eq 80, key: [ip.src], ban: {after: 5, within: 1m, for: 1m}, "
        "limits: [{algorithm: token_bucket, rate: 1/m, burst: 2, per: request}]}\n"};
    box.set_time(kNow.at);
    const std::string request = "GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n";
    for (std::size_t requests = 1; requests <= 3; ++requests) {
        std::string all;
        for (std::size_t i = 0; i < requests; ++i) {
            all += request;
        }
        const Frame data = tcp().dport(80).flags(0x18).carries(text(all));
        Question question{box};
        question.follow(data.opening());
        question.match(data);
        const PacketAnswer answer = question.answer_of(box);
        ASSERT_TRUE(answer.run.decided);
        EXPECT_EQ(answer.run.decision.verdict, requests < 3 ? Verdict::Pass : Verdict::Drop);
        const auto limits = question.asker().limits(answer.run);
        ASSERT_EQ(limits.size(), requests);
        for (std::size_t i = 0; i < requests; ++i) {
            EXPECT_EQ(limits[i].unit, i);
            EXPECT_EQ(limits[i].cost, Units{1});
            EXPECT_EQ(limits[i].charged, requests < 3);
        }
        ASSERT_EQ(question.asker().bans(answer.run).size(), requests);
        EXPECT_EQ(question.asker().bans(answer.run)[0].after, Units{5});
        if (requests == 3) {
            const BurstUnits& units = *question.asker().burst().units();
            EXPECT_EQ(units.decision(0, 1).verdict, Verdict::Pass);
            EXPECT_EQ(units.decision(0, 2).reason, Reason::OverLimit);
        }
    }
}

// The worker that a key's packets are handed to is found before the key is asked about.
TEST(PacketAsker, KnowsTheOwner) {
    MemoryBox box{
        "version: 1\ndefaults: {mode: enforce}\nrules:\n"
        "  - {id: r, when: ip.proto eq 17, key: [ip.dst], limits: [{algorithm: sliding_log, count: "
        "2, window: 1m}]}\n",
        {.workers = 2}};
    box.set_time(kNow.at);
    std::vector<std::size_t> asked(2);
    for (int i = 0; i < 16; ++i) {
        Question question{box};
        question.match(udp().dst("192.0.2." + std::to_string(i)));
        const std::optional<std::size_t> owner = question.asker().owner(2);
        ASSERT_TRUE(owner);
        ASSERT_LT(*owner, 2U);
        ++asked[*owner];
        EXPECT_EQ(question.answer_of(box, *owner).run.decision.reason, Reason::WithinLimits);
    }
    EXPECT_GT(asked[0], 0U);
    EXPECT_GT(asked[1], 0U);
    Question question{box};
    question.match(tcp());
    EXPECT_FALSE(question.asker().owner(2));
}

}  // namespace
}  // namespace sluice::packet_asker_test
