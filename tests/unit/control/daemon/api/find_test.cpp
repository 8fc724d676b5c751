#include "control/daemon/api/api.hpp"
#include "control/daemon/notify/notice_sender.hpp"
#include "control/json.hpp"
#include "tests/unit/control/daemon/keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sluice::find_test {
namespace {

constexpr std::size_t kBoxed = 12;
const std::string kBans = R"(version: 1
rules:
  - {id: a, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}],
     ban: {after: 3, within: 1m, for: 10m}}
)";

class FindPages : public Keeper {
protected:
    void SetUp() override {
        start_dataplane([this](const std::string& request) { reads_ += request == "list"; });
        dataplane().ban_keys(kBoxed);
        start_daemon("", 24h);
        ASSERT_FALSE(apply(kBans).refusal);
        services_.reset(new Services{rules(), link(), audit_, counters_, notices_});
    }
    Json page(std::size_t most, const std::string& after) {
        HttpRequest request{.method = "GET", .path = "/v1/find"};
        request.query = {{"of", "10.0.0.0/8"}, {"most", std::to_string(most)}, {"after", after}};
        const HttpResponse response = get_find(request, *services_);
        EXPECT_EQ(response.status, 200U) << response.body;
        return Json::parse(response.body);
    }

    // All pages together. A page ends early where it has taken a second, which changes none of it.
    struct Found {
        std::vector<std::string> keys;
        std::vector<std::size_t> reads;  // of each page
    };
    Found all_of(std::size_t most) {
        Found found;
        std::string after;
        do {
            const std::size_t before = reads_;
            const Json answer = page(most, after);
            EXPECT_LE(answer.at("findings").size(), most);
            for (const Json& row : answer.at("findings")) {
                if (row.at("what") == "key") {
                    found.keys.push_back(row.at("key"));
                }
            }
            found.reads.push_back(reads_ - before);
            const Json& next = answer.at("next");
            after = next.is_null() ? "" : next.get<std::string>();
        } while (!after.empty() && found.reads.size() < 2 * kBoxed);
        EXPECT_EQ(after, "") << "a page gets on";
        return found;
    }

    std::atomic<std::size_t> reads_ = 0;  // of tables
    ApiCounters counters_;
    NoticeSender notices_{{}};
    std::unique_ptr<Services> services_;
};

// The second of them has no name.
void expect_every_named(const std::vector<std::string>& keys) {
    EXPECT_EQ(keys.size(), kBoxed - 1);
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

// A read of a box that finds more than the page has room for is done once more, up to those: the
// next page begins behind them, and none is lost or told twice.
TEST_F(FindPages, ABoxWithMoreMatchesThanAPageIsReadOnceMore) {
    const Found found = all_of(5);
    expect_every_named(found.keys);
    EXPECT_EQ(std::ranges::max(found.reads), 2U) << "all of it, and then what there is room for";
    EXPECT_EQ(found.reads.back(), 1U) << "what is left finds room";
}

TEST_F(FindPages, ABoxThatFindsRoomIsReadOnce) {
    const Found found = all_of(100);
    expect_every_named(found.keys);
    EXPECT_EQ(reads_, 1U);
}

}  // namespace
}  // namespace sluice::find_test
