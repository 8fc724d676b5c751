#include "dataplane/control/control_server.hpp"

#include "lib/wire/codec.hpp"
#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace sluice::control_server_test {
namespace {

using Octets = std::vector<std::byte>;

// Welcome to a greeting; else a Failure with the name of what was asked, which tells them apart.
class Echo : public RequestHandler {
public:
    Reply answer(Asked asked) override {
        ++answered;
        audit_dir = asked.audit_dir;
        refused = asked.refused;
        if (std::holds_alternative<Hello>(asked.request)) {
            return Welcome{.version = kWireVersion};
        }
        if (const auto* top = std::get_if<GetTop>(&asked.request)) {
            return Failure{"top of " + top->rule};
        }
        return Failure{std::string(reply_size, 'x')};
    }
    MemoryBudget memory() const override { return budget; }

    int answered = 0;
    std::string audit_dir;
    ControlStats refused;
    MemoryBudget budget;
    std::size_t reply_size = 1;
};

Octets framed(const Request& request) {
    const Octets payload = encode(request);
    const auto size = static_cast<std::uint32_t>(payload.size());
    Octets out(sizeof(size) + payload.size());
    std::memcpy(out.data(), &size, sizeof(size));
    std::memcpy(out.data() + sizeof(size), payload.data(), payload.size());
    return out;
}

class Client {
public:
    explicit Client(const std::string& path) : fd_{connected(path)} {}

    void say(std::span<const std::byte> bytes) const {
        ASSERT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }
    void say(const Request& request) const { say(framed(request)); }

    // The next reply as text: "welcome", "failure: …", "closed"; empty: nothing whole.
    std::string heard() {
        std::array<std::byte, 65'536> bytes{};
        ssize_t got = 0;
        errno = 0;
        while ((got = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0) {
            in_.feed(ByteView{bytes}.first(static_cast<std::size_t>(got)));
        }
        if (const std::optional<Octets> payload = in_.next()) {
            const Result<Reply> reply = decode_reply(*payload);
            if (!reply) {
                return "unreadable: " + reply.error().what;
            }
            const auto* failure = std::get_if<Failure>(&*reply);
            return failure == nullptr ? "welcome" : "failure: " + failure->what;
        }
        // Bytes that the other end had not read make its end a reset.
        return got == 0 || errno == ECONNRESET ? "closed" : "";
    }
    void limit_receive_buffer(int bytes) const {
        (void)::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    }

private:
    static Fd connected(const std::string& path) {
        Result<Fd> fd = connect_unix(path);
        return fd ? *std::move(fd) : Fd{};
    }

    Fd fd_;
    FrameBuffer in_;
};

class ControlServerTest : public testing::Test {
protected:
    void SetUp() override {
        directory_ = test::memory_folder("control_server");
        std::filesystem::create_directories(directory_);
        Result<ControlServer> server =
            ControlServer::listen({.path = path()}, handler_, [this] { return now_; });
        ASSERT_TRUE(server) << server.error().what;
        server_.emplace(*std::move(server));
    }
    void TearDown() override {
        server_.reset();
        std::filesystem::remove_all(directory_);
    }

    [[nodiscard]] std::string path() const { return directory_ + "/dataplane.sock"; }
    // Enough turns for whatever has been said to be read and answered.
    void serve(int turns = 8) {
        for (int i = 0; i < turns; ++i) {
            server_->serve(std::chrono::milliseconds{0});
        }
    }
    Client greeted() {
        Client client{path()};
        client.say(Hello{});
        serve();
        EXPECT_EQ(client.heard(), "welcome");
        return client;
    }

    Echo handler_;
    std::chrono::steady_clock::time_point now_{std::chrono::hours{1}};
    std::optional<ControlServer> server_;

private:
    std::string directory_;
};

TEST_F(ControlServerTest, WithoutAGreetingNothingIsAnswered) {
    Client client{path()};
    client.say(Ping{});
    serve();
    EXPECT_EQ(client.heard(), "failure: the first message must be a greeting");
    EXPECT_EQ(client.heard(), "closed");
    EXPECT_EQ(handler_.answered, 0);
}

TEST_F(ControlServerTest, ASecondGreetingClosesTheConnection) {
    Client client = greeted();
    client.say(Hello{});
    serve();
    EXPECT_EQ(client.heard(), "failure: a second greeting");
    EXPECT_EQ(client.heard(), "closed");
}

TEST_F(ControlServerTest, AnotherVersionIsToldWhichOneIsSpoken) {
    Client client{path()};
    client.say(Hello{.version = kWireVersion + 1});
    serve();
    EXPECT_EQ(client.heard(),
              "failure: this dataplane speaks version " + std::to_string(kWireVersion));
    EXPECT_EQ(client.heard(), "closed");
}

TEST_F(ControlServerTest, AMessageThatCannotBeReadClosesTheConnection) {
    Client client = greeted();
    client.say(Octets{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0xff}});
    serve();
    EXPECT_TRUE(client.heard().starts_with("failure: "));
    EXPECT_EQ(client.heard(), "closed");
}

TEST_F(ControlServerTest, AMessageLongerThanAnyIsRefusedByItsLengthAlone) {
    Client client = greeted();
    client.say(Octets(4, std::byte{0xff}));
    serve();
    EXPECT_EQ(client.heard(), "failure: a message is at most 320 MiB");
    EXPECT_EQ(client.heard(), "closed");
}

TEST_F(ControlServerTest, RequestsAreAnsweredInTheirOrder) {
    Client client = greeted();
    Octets both = framed(GetTop{.rule = "a"});
    const Octets second = framed(GetTop{.rule = "b"});
    both.insert(both.end(), second.begin(), second.end());
    // Byte by byte: where a message ends is nothing that a read shows.
    for (const std::byte byte : both) {
        client.say(std::span{&byte, 1});
        serve(1);
    }
    serve();
    EXPECT_EQ(client.heard(), "failure: top of a");
    EXPECT_EQ(client.heard(), "failure: top of b");
}

TEST_F(ControlServerTest, TheFolderOfTheLatestSluicedIsKnown) {
    Client client{path()};
    client.say(Hello{.audit_dir = "/var/lib/sluice"});
    serve();
    Client other = greeted();
    other.say(Ping{});
    serve();
    EXPECT_EQ(handler_.audit_dir, "/var/lib/sluice") << "one that names none changes nothing";
}

TEST_F(ControlServerTest, RulesWithoutMemoryAreRejectedAndTheConnectionGoesOn) {
    handler_.budget = {.bytes = 0};
    Client client = greeted();
    client.say(ApplyRules{.rules = {}, .source = "version: 1", .modes = "{}"});
    client.say(GetTop{.rule = "a"});
    serve();
    EXPECT_TRUE(client.heard().starts_with("failure: ")) << "for want of memory";
    EXPECT_EQ(client.heard(), "failure: top of a");
    EXPECT_EQ(handler_.answered, 2) << "the greeting and the second message";
    EXPECT_EQ(handler_.refused.memory, 1U);
}

// A reply that its reader leaves unread is kept, and no other client waits for that.
TEST_F(ControlServerTest, WhoDoesNotReadItsReplyHoldsUpNobody) {
    handler_.reply_size = std::size_t{8} << 20;
    Client slow = greeted();
    slow.say(Ping{});
    serve(2);
    handler_.reply_size = 1;
    Client other = greeted();
    other.say(Ping{});
    serve();
    EXPECT_EQ(other.heard(), "failure: x");
    now_ += std::chrono::minutes{1};
    serve();
    now_ += std::chrono::seconds{1};
    Client third{path()};
    third.say(Hello{});
    serve();
    EXPECT_EQ(third.heard(), "welcome");
    std::string end = slow.heard();
    while (end.empty()) {
        end = slow.heard();
    }
    EXPECT_EQ(end, "closed") << "in the middle of its reply";
}

TEST_F(ControlServerTest, WhoHasNothingToSayForLongIsClosedAndCounted) {
    Client idle = greeted();
    now_ += std::chrono::seconds{30};
    serve();
    EXPECT_EQ(idle.heard(), "");
    now_ += std::chrono::seconds{1};
    serve();
    EXPECT_EQ(idle.heard(), "closed");
    Client other = greeted();
    other.say(Ping{});
    serve();
    EXPECT_EQ(handler_.refused.idle, 1U);
}

TEST_F(ControlServerTest, BytesThatTrickleDoNotRenewThePatienceForAMessage) {
    Client client = greeted();
    const Octets message = framed(GetTop{.rule = "a"});
    client.say(std::span{message}.first(1));
    serve();
    for (std::size_t second = 1; second <= 5; ++second) {
        now_ += std::chrono::seconds{1};
        client.say(std::span{message}.subspan(second, 1));
        serve();
        EXPECT_EQ(client.heard(), "");
    }
    now_ += std::chrono::seconds{1};
    serve();
    EXPECT_EQ(client.heard(), "closed");
}

// Sixteen places: one that was settled for a second gives way, and none that is at work does.
TEST_F(ControlServerTest, TheIdlestGivesItsPlace) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "some of the places are root's alone";
    }
    std::vector<Client> clients;
    for (int i = 0; i < 16; ++i) {
        now_ += std::chrono::milliseconds{i == 0 ? 0 : 10};
        clients.push_back(greeted());
    }
    Client early{path()};
    early.say(Hello{});
    serve();
    EXPECT_EQ(early.heard(), "closed") << "all others have just come";
    now_ += std::chrono::seconds{1};
    clients[0].say(Ping{});
    serve();
    Client late = greeted();
    EXPECT_EQ(clients[0].heard(), "failure: x");
    EXPECT_EQ(clients[1].heard(), "closed") << "the one that asked nothing for the longest time";
    EXPECT_EQ(clients[2].heard(), "");
    late.say(Ping{});
    serve();
    EXPECT_EQ(handler_.refused.full, 1U);
    EXPECT_EQ(handler_.refused.idle, 1U);
}

}  // namespace
}  // namespace sluice::control_server_test
