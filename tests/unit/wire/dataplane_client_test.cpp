#include "lib/wire/dataplane_client.hpp"

#include "lib/wire/socket.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

namespace sluice::dataplane_client_test {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

// A server that follows a script with one client, byte by byte where it wants to.
class Scripted {
public:
    explicit Scripted(std::function<void(Scripted&)> script) {
        char name[] = "/tmp/sluice-client-XXXXXX";
        folder_ = ::mkdtemp(name);
        Result<Fd> listener = listen_unix({.path = path()});
        EXPECT_TRUE(listener);
        listener_ = *std::move(listener);
        thread_ = std::thread{[this, run = std::move(script)] {
            pollfd entry{.fd = listener_.get(), .events = POLLIN, .revents = 0};
            (void)::poll(&entry, 1, 10'000);
            client_ = Fd{::accept(listener_.get(), nullptr, nullptr)};
            run(*this);
        }};
    }
    ~Scripted() {
        thread_.join();
        std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] std::string path() const { return folder_ + "/s"; }

    std::optional<Request> take() {
        std::uint32_t size = 0;
        if (::recv(client_.get(), &size, sizeof(size), MSG_WAITALL) != sizeof(size)) {
            return std::nullopt;
        }
        Bytes payload(size);
        if (::recv(client_.get(), payload.data(), size, MSG_WAITALL) != size) {
            return std::nullopt;
        }
        const Result<Request> request = decode_request(payload);
        return request ? std::optional{*request} : std::nullopt;
    }
    void give(const Reply& reply, std::size_t piece = SIZE_MAX) {
        const Bytes payload = encode(reply);
        const auto size = static_cast<std::uint32_t>(payload.size());
        Bytes bytes(sizeof(size));
        std::memcpy(bytes.data(), &size, sizeof(size));
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            give_raw(ByteView{bytes}.subspan(at, std::min(piece, bytes.size() - at)));
            if (piece == SIZE_MAX) {
                return;
            }
        }
    }
    void give_raw(ByteView bytes) {
        (void)::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    void greet() {
        EXPECT_TRUE(std::holds_alternative<Hello>(take().value()));
        give(Welcome{kWireVersion, 42, 7});
    }
    // Until the client is gone.
    void hang() { (void)take(); }
    void close() { client_ = Fd{}; }

private:
    std::string folder_;
    Fd listener_;
    Fd client_;
    std::thread thread_;
};

TEST(DataplaneClient, GreetsAndCalls) {
    Scripted server{[](Scripted& s) {
        const Hello hello = std::get<Hello>(s.take().value());
        EXPECT_EQ(hello.version, kWireVersion);
        EXPECT_EQ(hello.program, "tester 1");
        s.give(Welcome{kWireVersion, 42, 7});
        EXPECT_TRUE(std::get<SetPanic>(s.take().value()).pass);
        s.give(PanicSet{true});
        EXPECT_TRUE(std::holds_alternative<GetRules>(s.take().value()));
        s.give(RunningRules{9, std::string(300'000, 'x'), "{}"});
    }};
    Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "tester 1", 10s);
    ASSERT_TRUE(client) << client.error().what;
    EXPECT_EQ(client->welcome().pid, 42U);
    EXPECT_EQ(client->welcome().generation, 7U);
    const Result<Reply> panic = client->call(SetPanic{true});
    ASSERT_TRUE(panic);
    EXPECT_TRUE(std::get<PanicSet>(*panic).pass);
    const Result<Reply> rules = client->call(GetRules{});
    ASSERT_TRUE(rules);
    EXPECT_EQ(std::get<RunningRules>(*rules).source.size(), 300'000U);
}

TEST(DataplaneClient, TakesAnAnswerByteByByte) {
    Scripted server{[](Scripted& s) {
        s.greet();
        (void)s.take();
        s.give(RunningRules{9, "version: 1", "{}"}, 1);
    }};
    Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "t", 10s);
    ASSERT_TRUE(client);
    const Result<Reply> reply = client->call(GetRules{});
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ(std::get<RunningRules>(*reply).source, "version: 1");
}

TEST(DataplaneClient, SendsMoreThanTheSocketHolds) {
    Scripted server{[](Scripted& s) {
        s.greet();
        const auto apply = std::get<ApplyRules>(s.take().value());
        s.give(Applied{apply.source.size()});
    }};
    Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "t", 30s);
    ASSERT_TRUE(client);
    const std::size_t size = 8U << 20;
    const Result<Reply> reply = client->call(ApplyRules{{}, std::string(size, 'x'), ""});
    ASSERT_TRUE(reply) << reply.error().what;
    EXPECT_EQ(std::get<Applied>(*reply).generation, size);
}

TEST(DataplaneClient, AFailureIsRefusedAndTheConnectionGoesOn) {
    Scripted server{[](Scripted& s) {
        s.greet();
        (void)s.take();
        s.give(Failure{"no room"});
        (void)s.take();
        s.give(PanicSet{false});
    }};
    Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "t", 10s);
    ASSERT_TRUE(client);
    const Result<Reply> refused = client->call(GetStats{});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::Refused);
    EXPECT_EQ(refused.error().what, "no room");
    EXPECT_TRUE(client->call(SetPanic{false}));
}

TEST(DataplaneClient, ARequestLargerThanAnyMessageIsNotSent) {
    Scripted server{[](Scripted& s) {
        s.greet();
        EXPECT_TRUE(std::holds_alternative<GetRules>(s.take().value()));
        s.give(RunningRules{});
    }};
    Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "t", 10s);
    ASSERT_TRUE(client);
    const Result<Reply> large = client->call(ApplyRules{{}, std::string(kMaxMessageSize, 'x'), ""});
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, Errc::TooMany);
    EXPECT_TRUE(client->call(GetRules{}));
}

struct BadServer {
    const char* what;
    void (*script)(Scripted&);
};
const BadServer kBadServers[] = {
    {"says nothing", [](Scripted& s) { s.greet(), (void)s.take(), s.hang(); }},
    {"closes", [](Scripted& s) { s.greet(), (void)s.take(), s.close(); }},
    {"closes in the middle",
     [](Scripted& s) {
         s.greet();
         (void)s.take();
         s.give_raw(bytes_of({"\x10\0\0\0\1", 5}));
         s.close();
     }},
    {"stops in the middle",
     [](Scripted& s) {
         s.greet();
         (void)s.take();
         s.give_raw(bytes_of({"\x10\0\0\0\1", 5}));
         s.hang();
     }},
    {"announces 4 GB",
     [](Scripted& s) {
         s.greet();
         (void)s.take();
         s.give_raw(bytes_of({"\xFF\xFF\xFF\xFF", 4}));
         s.hang();
     }},
    {"speaks garbage",
     [](Scripted& s) {
         s.greet();
         (void)s.take();
         s.give_raw(bytes_of({"\4\0\0\0HTTP", 8}));
         s.hang();
     }},
};

TEST(DataplaneClient, ABadServerIsUnreachable) {
    for (const BadServer& row : kBadServers) {
        Scripted server{row.script};
        Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "t", 1s);
        ASSERT_TRUE(client) << row.what;
        const Result<Reply> reply = client->call(GetStats{});
        ASSERT_FALSE(reply) << row.what;
        EXPECT_EQ(reply.error().code, Errc::Unreachable) << row.what << ": " << reply.error().what;
    }
}

TEST(DataplaneClient, AGreetingThatIsNone) {
    Scripted silent{[](Scripted& s) { (void)s.take(), s.hang(); }};
    EXPECT_FALSE(DataplaneClient::connect(silent.path(), "t", 1s));
    Scripted refusing{[](Scripted& s) { (void)s.take(), s.give(Failure{"version 2"}); }};
    const Result<DataplaneClient> refused = DataplaneClient::connect(refusing.path(), "t", 10s);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, "version 2");
    Scripted confused{[](Scripted& s) { (void)s.take(), s.give(Applied{}); }};
    EXPECT_FALSE(DataplaneClient::connect(confused.path(), "t", 10s));
    EXPECT_FALSE(DataplaneClient::connect("/tmp/sluice-absent/s", "t", 10s));
}

TEST(DataplaneClient, LargeListsAreWaitedForInProportion) {
    constexpr std::size_t kMiB = std::size_t{1} << 20;
    EXPECT_EQ(DataplaneClient::patience(GetStats{}, 0), 1);
    EXPECT_EQ(DataplaneClient::patience(GetRules{}, 64 * kMiB), 1);
    EXPECT_EQ(DataplaneClient::patience(ApplyRules{}, 0), 3);
    EXPECT_EQ(DataplaneClient::patience(TryRules{}, 4 * kMiB), 4);
    EXPECT_EQ(DataplaneClient::patience(KeepRules{}, kMaxMessageSize), 83);
}

TEST(DataplaneClient, KnowsWhenTheOtherEndIsGone) {
    Scripted server{[](Scripted& s) {
        s.greet();
        (void)s.take();
        s.give(PanicSet{true});
        (void)s.take();
        s.close();
    }};
    Result<DataplaneClient> client = DataplaneClient::connect(server.path(), "t", 10s);
    ASSERT_TRUE(client);
    EXPECT_TRUE(client->call(SetPanic{true}));
    EXPECT_TRUE(client->is_alive());
    EXPECT_FALSE(client->call(GetStats{}));
    EXPECT_FALSE(client->is_alive());
}

}  // namespace
}  // namespace sluice::dataplane_client_test
