#include "control/daemon/keeper/compile_tries.hpp"

#include "../keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::compile_tries_test {
namespace {

TEST(CompileTries, KeepTheLockAfterAFew) {
    std::mutex changing;
    CompileTries tries{changing};
    for (unsigned i = 0; i < CompileTries::kUnlocked; ++i) {
        tries.lock();
        EXPECT_FALSE(tries.begin_compile());
        ASSERT_TRUE(changing.try_lock());  // others change what is compiled
        changing.unlock();
    }
    tries.lock();
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(tries.begin_compile());
        tries.lock();
    }
}

// A ban ends whenever the clock is asked: no compile is done before one has.
class Outrun : public Keeper {
protected:
    static constexpr std::size_t kBans = 400;

    void SetUp() override {
        start_dataplane();
        start_daemon();
        ASSERT_FALSE(apply(kOne).refusal);
        KeySettings bans;
        for (std::size_t i = 0; i < kBans; ++i) {
            bans.push_back(
                {.rule = "a",
                 .key = "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256),
                 .what = KeySetting::What::Banned,
                 .until = wall_ + 1000 + static_cast<std::int64_t>(i)});
        }
        ASSERT_FALSE(rules().set_keys(bans, 7).refusal);
        wall_ += 1000;
        wall_step_ = 1;
    }
    void expect_soon(const RuleChange& change) {
        wall_step_ = 0;
        EXPECT_FALSE(change.refusal) << change.refusal->what;
        expect_all(change.after);
        EXPECT_GT(rules().view()->keys.size(), kBans / 2);
    }
};

TEST_F(Outrun, AnApplyComesIntoForce) {
    expect_soon(apply(kOne + "  - {id: c, when: ip.ttl eq 9, on_match: drop}\n"));
}

TEST_F(Outrun, ARollbackComesIntoForce) {
    wall_step_ = 0;
    ASSERT_FALSE(apply(kOne + "  - {id: c, when: ip.ttl eq 9, on_match: drop}\n").refusal);
    wall_step_ = 1;
    expect_soon(rules().rollback(7));
}

TEST_F(Outrun, ARuleComesIntoForce) {
    expect_soon(rules().edit({.kind = RuleEdit::Kind::Add,
                              .name = "one.yaml",
                              .text = "id: c\nwhen: ip.ttl eq 9\non_match: drop\n",
                              .from = 7}));
}

}  // namespace
}  // namespace sluice::compile_tries_test
