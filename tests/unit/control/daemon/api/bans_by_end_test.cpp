#include "control/daemon/api/bans_by_end.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sluice::bans_by_end_test {
namespace {

constexpr std::int64_t kNow = 1'000'000;

BannedKey banned_until(std::size_t number, std::int64_t until) {
    BannedKey ban;
    ban.until = until == 0 ? kForever : Nanoseconds{std::chrono::seconds{until}};
    ban.reason = std::make_shared<const std::string>("number " + std::to_string(number));
    return ban;
}

RuleView view_of(std::vector<std::int64_t> ends) {
    auto banned = std::make_shared<BannedKeys>();
    for (std::size_t i = 0; i < ends.size(); ++i) {
        banned->push_back(banned_until(i, ends[i]));
    }
    RuleView view;
    view.rules.resize(2);
    view.rules[0].id = "none";
    view.rules[1].id = "listed";
    view.rules[1].banned = std::move(banned);
    return view;
}

std::vector<std::int64_t> ends_of(const std::vector<BanEnd>& bans) {
    std::vector<std::int64_t> ends;
    for (const BanEnd& ban : bans) {
        ends.push_back(ban.until);
    }
    return ends;
}

BanWords page_of(std::uint32_t most) {
    BanWords words;
    words.page.most = most;
    return words;
}

TEST(BansByEnd, TheSoonestComeFirstAndThoseForGoodLast) {
    const RuleView view = view_of({kNow + 30, 0, kNow + 10, kNow - 5, kNow + 20});
    const auto bans = soonest_to_end(view, page_of(10), {}, kNow);
    ASSERT_EQ(bans.size(), 4U);
    EXPECT_EQ((std::vector{bans[0].place, bans[1].place, bans[2].place, bans[3].place}),
              (std::vector<std::uint64_t>{2, 4, 0, 1}));
}

TEST(BansByEnd, PagesHaveEachBanOnce) {
    std::mt19937_64 draw{41};
    std::vector<std::int64_t> ends(1'000);
    for (std::int64_t& end : ends) {
        end = kNow + 1 + static_cast<std::int64_t>(draw() % 50);  // many end in one second
    }
    const RuleView view = view_of(ends);
    std::set<std::uint64_t> seen;
    BanEnd last;
    for (std::vector<BanEnd> page; !(page = soonest_to_end(view, page_of(64), last, kNow)).empty();
         last = page.back()) {
        EXPECT_LE(page.size(), 64U);
        for (const BanEnd& ban : page) {
            EXPECT_GT(ban, last);
            EXPECT_TRUE(seen.insert(ban.place).second);
            last = ban;
        }
    }
    EXPECT_EQ(seen.size(), ends.size());
}

TEST(BansByEnd, OnlyThoseThatAreWanted) {
    const RuleView view = view_of({kNow + 1, kNow + 2, kNow + 3});
    BanWords words = page_of(10);
    words.filter = "ber 2";
    EXPECT_EQ(ends_of(soonest_to_end(view, words, {}, kNow)), (std::vector{kNow + 3}));
    words.filter.clear();
    words.source = BanSource::Operator;
    EXPECT_TRUE(soonest_to_end(view, words, {}, kNow).empty());
    words.source = BanSource::Policy;
    words.rule = "none";
    EXPECT_TRUE(soonest_to_end(view, words, {}, kNow).empty());
}

TEST(BansByEnd, APageBeginsWhereTheOneBeforeSays) {
    const BanEnd end{kNow, 1, 7, 1'234'567};
    EXPECT_EQ(read_ban_end(text_of(end)), end);
    EXPECT_EQ(read_ban_end(""), BanEnd{});
    for (const char* wrong : {"x", "end:", "end:1:2:3", "end:1:2:3:", "end:1:2:3:4:5",
                              "end:a:0:0:0", "operator:a:01:k"}) {
        EXPECT_EQ(read_ban_end(wrong), std::nullopt) << wrong;
    }
}

}  // namespace
}  // namespace sluice::bans_by_end_test
