#include "control/daemon/api/api.hpp"
#include "control/daemon/notify/notice_sender.hpp"
#include "tests/unit/control/daemon/keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sluice::explain_test {
namespace {

constexpr std::size_t kAtOnce = 16;

class Explain : public Keeper {
protected:
    void SetUp() override {
        start_dataplane();
        start_daemon("", 24h);
        ASSERT_FALSE(apply(kOne).refusal);
        services_.reset(new Services{rules(), link(), audit_, counters_, notices_, nullptr,
                                     ExplainTurns{ExplainTurns::kPlaces, 24h}});
    }
    HttpResponse ask(const std::string& account) {
        HttpRequest request{.method = "POST", .path = "/v1/explain"};
        request.query["account"] = account;
        request.body = R"({"packet":{"frame":"00"}})";
        return post_explain(request, *services_);
    }
    ExplainTurns& turns() { return services_->explain_turns; }

    ApiCounters counters_;
    NoticeSender notices_{{}};
    std::unique_ptr<Services> services_;
};

// The answers to many questions at once, the dataplane answering none before all others are
// refused or wait.
class Crowd {
public:
    template <typename Ask>
    explicit Crowd(Ask ask) {
        for (std::size_t i = 0; i < kAtOnce; ++i) {
            threads_.emplace_back([this, ask] {
                const HttpResponse response = ask();
                const std::lock_guard lock{mutex_};
                answers_.push_back(response);
            });
        }
    }
    std::size_t answered() {
        const std::lock_guard lock{mutex_};
        return answers_.size();
    }
    std::map<unsigned, std::size_t> by_status() {
        const std::lock_guard lock{mutex_};
        std::map<unsigned, std::size_t> found;
        for (const HttpResponse& one : answers_) {
            ++found[one.status];
        }
        return found;
    }
    void join() {
        for (std::thread& one : threads_) {
            one.join();
        }
        threads_.clear();
    }
    std::vector<HttpResponse> answers() {
        const std::lock_guard lock{mutex_};
        return answers_;
    }

private:
    std::mutex mutex_;
    std::vector<HttpResponse> answers_;
    std::vector<std::thread> threads_;
};

using ByStatus = std::map<unsigned, std::size_t>;

class ExplainAtOnce : public Explain, public testing::WithParamInterface<const char*> {};

TEST_P(ExplainAtOnce, FewWaitAndOthersAreToldToComeAgain) {
    dataplane().hold_packets(true);
    Crowd crowd{[this] { return ask(GetParam()); }};
    while (crowd.answered() + turns().inside() != kAtOnce) {
        std::this_thread::yield();
    }
    EXPECT_EQ(turns().inside(), ExplainTurns::kPlaces);
    EXPECT_EQ(crowd.by_status(), (ByStatus{{429, kAtOnce - ExplainTurns::kPlaces}}));
    for (const HttpResponse& refused : crowd.answers()) {
        EXPECT_EQ(refused.retry_after, 1U);
        EXPECT_NE(refused.body.find("other packets are being explained"), std::string::npos);
    }
    dataplane().hold_packets(false);
    crowd.join();
    EXPECT_EQ(crowd.by_status(),
              (ByStatus{{200, ExplainTurns::kPlaces}, {429, kAtOnce - ExplainTurns::kPlaces}}));
    EXPECT_EQ(turns().inside(), 0U);
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutAccount, ExplainAtOnce, testing::Values("0", "1"));

// A busy link is not a missing dataplane: who asks is told when to ask again.
TEST(NoDataplane, IsToldFromABusyOne) {
    const HttpResponse away = no_dataplane({Errc::Unreachable, "none is connected"});
    EXPECT_EQ(away.status, 503U);
    EXPECT_NE(away.body.find("\"no dataplane\""), std::string::npos);
    EXPECT_EQ(away.retry_after, 0U);
    const HttpResponse busy = no_dataplane({Errc::Busy, "with another call"});
    EXPECT_EQ(busy.status, 503U);
    EXPECT_NE(busy.body.find("\"busy\""), std::string::npos) << busy.body;
    EXPECT_EQ(busy.retry_after, 1U);
    EXPECT_EQ(no_dataplane({Errc::Refused, ""}).status, 502U);
}

}  // namespace
}  // namespace sluice::explain_test
