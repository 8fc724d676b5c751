#include "lib/peer/link/client_lane.hpp"

#include "tests/guarded_memory.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::client_lane_test {
namespace {

using test::GuardedMemory;

// Every part of it follows from its ticket, so that one that is not whole is known.
ClientQuestion question(std::uint64_t ticket) {
    ClientQuestion one{.ticket = ticket,
                       .load = ticket * 3,
                       .cost = ticket + 1,
                       .slot = static_cast<std::uint16_t>(ticket),
                       .key_size = static_cast<std::uint16_t>(1 + ticket % kClientKeyBytes)};
    for (std::size_t i = 0; i < one.key_size; ++i) {
        one.key_bytes[i] = static_cast<std::byte>(ticket + i);
    }
    return one;
}
bool is_whole(const ClientQuestion& seen) {
    const ClientQuestion meant = question(seen.ticket);
    return seen.load == meant.load && seen.cost == meant.cost && seen.slot == meant.slot &&
           seen.key_size == meant.key_size && seen.key_bytes == meant.key_bytes;
}
std::vector<std::uint64_t> tickets(ClientLane& lane, std::size_t most = kClientRing) {
    std::vector<std::uint64_t> taken;
    lane.poll(most, [&](const ClientQuestion& one) {
        EXPECT_TRUE(is_whole(one));
        taken.push_back(one.ticket);
    });
    return taken;
}

struct Pair {
    std::unique_ptr<ClientLaneMemory> memory = std::make_unique<ClientLaneMemory>();
    ClientLane worker{*memory};
    ClientLaneEnd client{*memory};
};

TEST(ClientLane, TakesQuestionsInOrderAndAnswersThem) {
    Pair pair;
    EXPECT_TRUE(tickets(pair.worker).empty());
    std::uint64_t ticket = 0;
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(pair.client.ask(question(ticket + static_cast<std::uint64_t>(i))));
        }
        EXPECT_EQ(tickets(pair.worker),
                  (std::vector<std::uint64_t>{ticket, ticket + 1, ticket + 2}));
        EXPECT_FALSE(pair.client.take());
        for (int i = 0; i < 3; ++i, ++ticket) {
            pair.worker.answer({.ticket = ticket, .wait = -7, .what = ClientAnswer::What::Refused});
            const auto answer = pair.client.take();
            ASSERT_TRUE(answer);
            EXPECT_EQ(answer->ticket, ticket);
            EXPECT_EQ(answer->wait, -7);
            EXPECT_EQ(answer->what, ClientAnswer::What::Refused);
        }
    }
}

TEST(ClientLane, AFullLaneTakesNoMoreAndATurnNoMoreThanItsBudget) {
    Pair pair;
    for (std::uint64_t ticket = 0; ticket < kClientRing; ++ticket) {
        EXPECT_TRUE(pair.client.ask(question(ticket)));
    }
    EXPECT_FALSE(pair.client.ask(question(99)));
    EXPECT_EQ(tickets(pair.worker, 5), (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(tickets(pair.worker).size(), kClientRing - 5);
    EXPECT_FALSE(pair.client.ask(question(99))) << "its answers have not come";
    pair.worker.answer({});
    EXPECT_TRUE(pair.client.take());
    EXPECT_TRUE(pair.client.ask(question(99)));
    EXPECT_EQ(tickets(pair.worker), std::vector<std::uint64_t>{99});
}

// Whatever count stands there, a turn is bounded, and a client that begins to keep to the ring is
// served again.
TEST(ClientLane, CountsThatCannotBeAreNoQuestions) {
    Pair pair;
    std::uint64_t broken = 0;
    for (const std::uint64_t lie : {std::uint64_t{kClientRing + 1}, std::uint64_t{1} << 63,
                                    ~std::uint64_t{0}, std::uint64_t{5000}}) {
        pair.memory->asked = lie;
        EXPECT_TRUE(tickets(pair.worker).empty());
        EXPECT_EQ(pair.worker.broken(), ++broken);
        EXPECT_EQ(pair.worker.taken(), lie);
        EXPECT_TRUE(tickets(pair.worker).empty()) << "it is not told again";
    }
    EXPECT_EQ(pair.worker.broken(), broken);
    write_words(question(4), pair.memory->questions[5000 % kClientRing]);
    pair.memory->asked = 5001;
    EXPECT_EQ(tickets(pair.worker), std::vector<std::uint64_t>{4});
}

TEST(ClientLane, AKeyThatIsTooLongIsNone) {
    Pair pair;
    ClientQuestion one = question(1);
    for (const std::uint16_t size : {std::uint16_t{kClientKeyBytes}, std::uint16_t{0}}) {
        one.key_size = size;
        ASSERT_TRUE(pair.client.ask(one));
        (void)pair.worker.poll(1, [&](const ClientQuestion& seen) {
            ASSERT_TRUE(seen.key());
            EXPECT_EQ(seen.key()->size(), size);
        });
    }
    for (const std::uint16_t size : {std::uint16_t{kClientKeyBytes + 1}, std::uint16_t{0xFFFF}}) {
        one.key_size = size;
        ASSERT_TRUE(pair.client.ask(one));
        EXPECT_EQ(
            pair.worker.poll(1, [&](const ClientQuestion& seen) { EXPECT_FALSE(seen.key()); }), 1U);
    }
}

// A client is killed before every single store that it makes: the worker, which may look at any
// time, finds all questions that were asked before, each whole, and no other.
TEST(ClientLane, AClientThatIsKilledAnywhereLeavesWholeQuestions) {
    constexpr std::uint64_t kQuestions = 3;
    const std::size_t bytes = (sizeof(ClientLaneMemory) + 4095) & ~std::size_t{4095};
    GuardedMemory memory{bytes};
    GuardedMemory left{bytes};
    auto* const shared = new (memory.base()) ClientLaneMemory;
    ClientLaneEnd client{*shared};
    std::uint64_t asked = 0;
    std::size_t instants = 0;
    for (; asked < kQuestions; ++asked) {
        const ClientQuestion next = question(1000 + asked);
        memory.run_guarded([&] { (void)client.ask(next); },
                           [&] {
                               ++instants;
                               left.copy_from(memory);
                               ClientLane worker{*static_cast<ClientLaneMemory*>(left.base())};
                               EXPECT_EQ(tickets(worker).size(), asked);
                               worker.answer({.ticket = 1});
                           });
    }
    ClientLane worker{*shared};
    EXPECT_EQ(tickets(worker), (std::vector<std::uint64_t>{1000, 1001, 1002}));
    EXPECT_GE(instants, kQuestions * sizeof(ClientQuestion) / 8) << "each word, and the count";
}

// Memory that is shared with a process of its own.
class SharedLane {
public:
    SharedLane()
        : memory_{new(::mmap(nullptr, sizeof(ClientLaneMemory), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0)) ClientLaneMemory} {}
    ~SharedLane() { ::munmap(memory_, sizeof(ClientLaneMemory)); }
    SharedLane(const SharedLane&) = delete;
    SharedLane& operator=(const SharedLane&) = delete;
    [[nodiscard]] ClientLaneMemory& memory() const { return *memory_; }

private:
    ClientLaneMemory* memory_;
};

// One process after another, each with a lane of its own, asks as fast as it can and is killed
// somewhere. The worker has every question whole.
TEST(ClientLane, ProcessesAreKilledWhileTheyAsk) {
    for (int life = 0; life < 20; ++life) {
        const SharedLane shared;
        ClientLane worker{shared.memory()};
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ClientLaneEnd client{shared.memory()};
            for (std::uint64_t ticket = 0;; ++ticket) {
                while (!client.ask(question(ticket))) {
                    (void)client.take();
                }
                (void)client.take();
            }
        }
        std::uint64_t taken = 0;
        const auto serve = [&] {
            const std::size_t count = worker.poll(32, [&](const ClientQuestion& one) {
                EXPECT_TRUE(is_whole(one));
                EXPECT_EQ(one.ticket, taken++);
                worker.answer({.ticket = one.ticket});
            });
            EXPECT_LE(count, 32U);
        };
        while (taken < static_cast<std::uint64_t>(100 * life)) {
            serve();
            std::this_thread::yield();
        }
        EXPECT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status));
        const std::uint64_t before = taken;
        for (int turn = 0; turn < 10; ++turn) {
            serve();
        }
        EXPECT_LE(taken - before, kClientRing);
        EXPECT_EQ(worker.broken(), 0U);
    }
}

// A process writes anything anywhere into its lane, all the time. The worker takes no more in a
// turn than its budget, of keys no longer than keys are, and another lane's client gets each of its
// answers meanwhile.
TEST(ClientLane, WhoScribblesOverItsLaneHurtsNobody) {
    constexpr std::size_t kBudget = 32;
    constexpr std::uint64_t kHonest = 2'000;
    constexpr std::size_t kScribbled = 500;
    const SharedLane scribbled;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::mt19937_64 random{7};
        auto* const words = reinterpret_cast<volatile std::uint64_t*>(&scribbled.memory());
        for (;;) {
            const std::uint64_t value = random();
            words[value % (sizeof(ClientLaneMemory) / 8)] = random();
            // Often a count that may be, so that what is scribbled is taken for questions.
            if (value % 3 == 0) {
                words[0] = (value >> 32U) % (kClientRing + 1);
            }
        }
    }
    ClientLane hostile{scribbled.memory()};
    Pair honest;
    std::uint64_t answered = 0;
    std::uint64_t sum = 0;
    std::size_t scribbles = 0;
    const auto has_met_all = [&] {
        return answered >= kHonest && scribbles >= kScribbled && sum != 0 && hostile.broken() != 0;
    };
    for (std::uint64_t ticket = 0; !has_met_all();) {
        ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "it goes on";
        ticket += honest.client.ask(question(ticket)) ? 1 : 0;
        std::size_t calls = 0;
        const std::size_t count = hostile.poll(kBudget, [&](const ClientQuestion& one) {
            ++calls;
            if (const auto key = one.key()) {
                ASSERT_LE(key->size(), kClientKeyBytes);
                for (const std::byte byte : *key) {
                    sum += static_cast<std::uint64_t>(byte);
                }
            }
            hostile.answer({.ticket = one.ticket});
        });
        EXPECT_LE(count, kBudget);
        EXPECT_EQ(count, calls);
        scribbles += count;
        if (count == 0) {
            std::this_thread::yield();  // to whom scribbles, should there be one core
        }
        (void)honest.worker.poll(kBudget, [&](const ClientQuestion& one) {
            EXPECT_TRUE(is_whole(one));
            honest.worker.answer({.ticket = one.ticket});
        });
        while (const auto answer = honest.client.take()) {
            EXPECT_EQ(answer->ticket, answered++);
        }
    }
    EXPECT_EQ(::kill(child, SIGKILL), 0);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_EQ(honest.worker.broken(), 0U);
}

}  // namespace
}  // namespace sluice::client_lane_test
