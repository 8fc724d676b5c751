#include "../keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <filesystem>

// Lists beside trials, rollback and restarts.
namespace sluice::rule_lists_test {
namespace {

const std::string kFriends = R"(version: 1
data:
  lists:
    friends: {type: cidr, file: friends.txt}
rules:
  - {id: friends, mode: enforce, when: ip.src in $friends, on_match: allow}
  - {id: rest, mode: enforce, when: ip.proto eq 17, on_match: drop}
)";

class Lists : public Keeper {
protected:
    Lists() {
        std::filesystem::create_directories(folder_ / "etc");
        write_list("192.0.2.0/24\n");
        start_dataplane();
        start_daemon();
    }
    void write_list(const std::string& text) { folder_.write("etc/friends.txt", text); }
    void remove_list() { std::filesystem::remove(folder_ / "etc/friends.txt"); }
    RuleChange apply_lists(std::optional<std::chrono::nanoseconds> confirm = std::nullopt) {
        RuleFile file = file_with_lists(kFriends);
        file.confirm = confirm;
        return rules().apply(std::move(file));
    }
    std::size_t copies() {
        const std::filesystem::directory_iterator all{folder_ / "state/lists"};
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
};

TEST_F(Lists, AnotherTextComesIntoForceWithModesAndAllElse) {
    ASSERT_FALSE(apply_lists().refusal);
    EXPECT_FALSE(rules().reload_lists()) << "nothing has changed";
    const std::uint64_t before = rules().set_mode("rest", Mode::Monitor, 0).after;
    write_list("192.0.2.0/25\n");
    const std::optional<RuleChange> change = rules().reload_lists();
    ASSERT_TRUE(change && !change->refusal);
    EXPECT_EQ(change->before, before);
    EXPECT_NE(change->after, before);
    expect_all(change->after);
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"rest", Mode::Monitor}}));
    EXPECT_EQ(copies(), 1U);
    EXPECT_EQ(kind_of(rules().rollback(0)), Refusal::Kind::NothingBefore) << "it was no step";
}

TEST_F(Lists, ABadOneLeavesTheOldAndIsSaid) {
    const std::uint64_t before = apply_lists().after;
    write_list("nonsense\n");
    for (int again = 0; again < 2; ++again) {
        const std::optional<RuleChange> change = rules().reload_lists();
        ASSERT_TRUE(change);
        EXPECT_EQ(kind_of(*change), Refusal::Kind::DoesNotCompile);
        EXPECT_NE(rules().view()->list_problem.find("friends.txt:1:1"), std::string::npos);
        expect_all(before);
    }
    ASSERT_FALSE(apply(kOne).refusal);
    EXPECT_EQ(rules().view()->list_problem, "");
    EXPECT_FALSE(rules().reload_lists());
}

TEST_F(Lists, ATrialKeepsItsDeadline) {
    const std::uint64_t old = apply(kOne).after;
    ASSERT_FALSE(apply_lists(60s).refusal);
    const BootTime end = rules().view()->unconfirmed->end.at;
    pass(50s);
    write_list("192.0.2.0/25\n");
    const std::optional<RuleChange> change = rules().reload_lists();
    ASSERT_TRUE(change && !change->refusal);
    EXPECT_EQ(in_dataplane(), change->after);
    EXPECT_EQ(on_disk()->generation, old);
    ASSERT_TRUE(rules().view()->unconfirmed);
    EXPECT_EQ(rules().view()->unconfirmed->end.at.since, end.since);
    pass(10s);
    tick();
    expect_all(old);
    EXPECT_TRUE(rules().view()->list_files.empty());
    EXPECT_EQ(copies(), 0U);
}

TEST_F(Lists, ATrialAndItsConfirmationFindTheirCopies) {
    ASSERT_FALSE(apply(kOne).refusal);
    const std::uint64_t tried = apply_lists(60s).after;
    remove_list();
    kill_daemon();
    start_daemon();
    EXPECT_EQ(in_view(), tried);
    ASSERT_EQ(rules().view()->rules.size(), 2U);
    ASSERT_FALSE(rules().confirm().refusal);
    expect_all(tried);
    EXPECT_EQ(dataplane().kept().rules.generation, tried);
    kill_daemon();
    stop_dataplane();
    start_dataplane();
    start_daemon();
    expect_all(tried);
    EXPECT_EQ(copies(), 1U);
}

TEST_F(Lists, ARevertFindsItsCopies) {
    const std::uint64_t old = apply_lists().after;
    for (const bool killed : {false, true}) {
        ASSERT_FALSE(try_out(kTwo, 60s).refusal);
        remove_list();
        if (killed) {
            kill_daemon();
        }
        pass(60s);
        killed ? start_daemon() : tick();
        expect_all(old);
    }
    const std::uint64_t returns = rules().view()->returns;
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    ASSERT_FALSE(rules().rollback(0).refusal);
    expect_all(old);
    EXPECT_EQ(rules().view()->returns, returns + 1) << "whoever watches the files looks again";
    EXPECT_EQ(rules().view()->list_files, (std::set<std::string>{folder_ / "etc/friends.txt"}));
}

TEST_F(Lists, ARollbackFindsItsCopies) {
    const std::uint64_t first = apply_lists().after;
    write_list("192.0.2.0/25\n");
    const std::uint64_t second = apply_lists().after;
    ASSERT_NE(second, first);
    EXPECT_EQ(copies(), 2U);
    ASSERT_FALSE(apply(kOne).refusal);
    remove_list();
    kill_daemon();
    start_daemon();
    EXPECT_EQ(rules().rollback(0).after, second);
    expect_all(second);
    EXPECT_EQ(rules().rollback(0).after, first);
    expect_all(first);
    EXPECT_EQ(copies(), 1U);
    // What is there again counts again.
    write_list("198.51.100.0/24\n");
    const std::optional<RuleChange> change = rules().reload_lists();
    ASSERT_TRUE(change && !change->refusal);
    expect_all(change->after);
}

TEST_F(Lists, APreviewReadsThemAndChangesNothing) {
    const std::uint64_t before = apply(kOne).after;
    const std::optional<Compiled> next = rules().preview(file_with_lists(kFriends));
    ASSERT_TRUE(next && next->rules);
    EXPECT_EQ(next->rules->rules.size(), 2U);
    expect_all(before);
    EXPECT_EQ(dataplane().times_applied(), 1U);
    EXPECT_EQ(apply_lists().after, generation_of(next->rules->set));
}

}  // namespace
}  // namespace sluice::rule_lists_test
