#include "dataplane/store/store_questions.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/memory_box.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Requests of several boxes whose limit is too small to merge: each waits for a store that stands
// in for the real one.
namespace sluice::asked_store_test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRules =
    "version: 1\ndefaults: {mode: enforce}\nrules:\n"
    "  - {id: logins, key: [ip.src], per: request, limits: [{algorithm: token_bucket, rate: 5/m, "
    "burst: 5}]}\n";

std::vector<std::byte> request(std::uint16_t sport, std::uint8_t flags = 0x18) {
    const std::string_view text = flags == 0x02 ? "" : "GET /login HTTP/1.1\r\nHost: a\r\n\r\n";
    const ByteView bytes = std::as_bytes(std::span{text});
    return test::tcp()
        .src("10.0.0.1")
        .sport(sport)
        .dport(80)
        .seq(flags == 0x02 ? 999 : 1000)
        .flags(flags)
        .carries({bytes.begin(), bytes.end()})
        .bytes();
}

// What the store has used of a key, in one step, as its function has it.
struct Store {
    std::map<std::uint64_t, std::uint64_t> used;
    bool away = false;
    // Lies about levels where it is set.
    std::function<void(StoreReply&)> lie{};

    StoreReply sync(const StoreBatch& batch) {
        StoreReply reply{.partition = batch.partition, .seq = batch.seq, .born = 1};
        for (const StoreEntry& entry : batch.entries) {
            std::uint64_t& at = used[entry.digest];
            const bool refused = entry.kind != StoreEntryKind::Ask || at + entry.units > entry.most;
            at += refused ? 0 : entry.units;
            reply.levels.push_back({.current = at, .refused = refused});
        }
        if (lie) {
            lie(reply);
        }
        return reply;
    }
};

class Box {
public:
    Box(std::size_t workers, OwnerDown down, std::string_view text = kRules)
        : box_{text,
               {.workers = workers,
                .reserve = ReserveBounds::of(workers),
                .machines = 8,
                .place =
                    [down](RuleSet& rules) {
                        rules.rules[0].limits[0].cluster_scope = ClusterScope::Cluster;
                        rules.rules[0].limits[0].owner_down = down;
                    }}},
          batches_{workers, 100'000},
          questions_{workers} {}

    void send(std::uint16_t sport, Instant now) {
        const std::size_t at = sport % box_.size();
        for (const std::uint8_t flags : {std::uint8_t{0x02}, std::uint8_t{0x18}}) {
            box_.show({}, request(sport, flags), Direction::In, "lab", at);
            box_.set_time(now);
            (void)box_.poll(at);
        }
    }
    // The relay answers nothing.
    void poll(Instant now) {
        box_.set_time(now);
        for (std::size_t i = 0; i < box_.size(); ++i) {
            (void)box_.poll(i);
        }
    }
    void turn(Store& store, Instant now, bool down) {
        box_.set_time(now);
        const Nanoseconds at = now.time_since_epoch();
        for (std::size_t i = 0; i < box_.size(); ++i) {
            questions_.take(i, *box_.questions().store(i), batches_, down, at);
        }
        while (const StoreBatch* batch = store.away ? nullptr : batches_.next_to_say(at)) {
            batches_.settle(store.sync(StoreBatch{*batch}), at);
        }
        questions_.settle(batches_, at);
        for (std::size_t i = 0; i < box_.size(); ++i) {
            questions_.deliver(i, *box_.questions().store(i));
            (void)box_.poll(i);
        }
    }
    // Requests that were decided so: passed, or not. Each comes behind a SYN.
    [[nodiscard]] std::size_t requests(bool passed) const {
        std::size_t count = 0;
        for (std::size_t i = 1; i < box_.shown().size(); i += 2) {
            const auto& frame = box_.shown()[i];
            count += frame.decided && forwards(frame.decision.verdict) == passed ? 1 : 0;
        }
        return count;
    }
    [[nodiscard]] const StoreQuestionCounts& counts() const { return questions_.counts(); }

private:
    test::MemoryBox box_;
    StoreBatches batches_;
    StoreQuestions questions_;
};

struct Row {
    const char* name;
    std::function<void(Store&)> store;
    OwnerDown down = OwnerDown::LocalShare;
    bool is_down = false;
    std::size_t passed = 0;  // of ten requests at each of two boxes
};

void run(const Row& row, std::size_t workers) {
    SCOPED_TRACE(row.name);
    Store store;
    row.store(store);
    Instant now{1h};
    std::vector<std::unique_ptr<Box>> boxes;
    for (int i = 0; i < 2; ++i) {
        boxes.push_back(std::make_unique<Box>(workers, row.down));
    }
    for (std::uint16_t i = 0; i < 10; ++i) {
        for (const auto& box : boxes) {
            box->send(static_cast<std::uint16_t>(2000 + i), now);
        }
    }
    std::size_t passed = 0;
    std::size_t refused = 0;
    for (int turns = 0; turns < 40; ++turns, now += 10ms) {
        for (const auto& box : boxes) {
            box->turn(store, now, row.is_down);
        }
    }
    for (const auto& box : boxes) {
        passed += box->requests(true);
        refused += box->requests(false);
        EXPECT_EQ(box->counts().asked, 10U);
    }
    EXPECT_EQ(passed, row.passed);
    EXPECT_EQ(passed + refused, 20U);
}

// Two of eight boxes have ten requests each of one client; the store has room for five. By its
// share a box charges eight for each: one passes, of a key that owes nothing.
TEST(AskedStore, RequestsPassAsTheStoreOrOwnerDownSays) {
    const auto away = [](Store& store) { store.away = true; };
    const Row rows[] = {
        {.name = "the store answers", .store = [](Store&) {}, .passed = 5},
        {.name = "it refuses all",
         .store =
             [](Store& store) {
                 store.lie = [](StoreReply& reply) {
                     for (StoreLevel& level : reply.levels) {
                         level.refused = true;
                     }
                 };
             },
         .passed = 0},
        {.name = "it answers more than was asked",
         .store =
             [](Store& store) {
                 store.lie = [](StoreReply& reply) { reply.levels.push_back({}); };
             },
         .passed = 2},
        {.name = "it is silent: the deadline", .store = away, .passed = 2},
        {.name = "away: local_share", .store = away, .is_down = true, .passed = 2},
        {.name = "away: last_known",
         .store = away,
         .down = OwnerDown::LastKnown,
         .is_down = true,
         .passed = 10},
        {.name = "away: open",
         .store = away,
         .down = OwnerDown::Open,
         .is_down = true,
         .passed = 20},
        {.name = "away: closed", .store = away, .down = OwnerDown::Closed, .is_down = true},
    };
    for (const Row& row : rows) {
        run(row, 1);
    }
    run(rows[0], 2);
}

// Where not even the box's relay answers, or no waiting place is left, `on_full` opens nothing.
TEST(AskedStore, WithoutAnAnswerOfTheBoxItselfOwnerDownDecides) {
    struct Unanswered {
        OwnerDown down;
        std::size_t passed;
    };
    const std::string rules =
        std::string{kRules}.replace(kRules.find("key:"), 0, "on_full: open, ");
    for (const Unanswered& row :
         {Unanswered{OwnerDown::LocalShare, 0}, Unanswered{OwnerDown::LastKnown, 0},
          Unanswered{OwnerDown::Open, 10}, Unanswered{OwnerDown::Closed, 0}}) {
        Box box{1, row.down, rules};
        for (std::uint16_t i = 0; i < 10; ++i) {
            box.send(static_cast<std::uint16_t>(2000 + i), Instant{1h});
        }
        EXPECT_EQ(box.requests(true) + box.requests(false), 0U);
        box.poll(Instant{1h + 300ms});
        EXPECT_EQ(box.requests(true), row.passed);
        EXPECT_EQ(box.requests(false), 10 - row.passed);
    }
}

// A rule that only monitors holds no request, and takes nothing of the budget.
TEST(AskedStore, ARuleThatMonitorsAsksNobody) {
    const std::string rules = std::string{kRules}.replace(kRules.find("enforce"), 7, "monitor");
    Store store;
    Box box{1, OwnerDown::Closed, rules};
    for (std::uint16_t i = 0; i < 10; ++i) {
        box.send(static_cast<std::uint16_t>(2000 + i), Instant{1h});
    }
    EXPECT_EQ(box.requests(true), 10U);
    box.turn(store, Instant{1h}, false);
    EXPECT_EQ(box.counts().asked, 0U);
}

}  // namespace
}  // namespace sluice::asked_store_test
