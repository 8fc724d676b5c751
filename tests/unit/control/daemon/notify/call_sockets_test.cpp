#include "control/daemon/notify/call_sockets.hpp"

#include "lib/wire/fd.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::call_sockets_test {
namespace {

// Both ends of a connection by TCP.
struct Connection {
    Fd ours;
    Fd theirs;

    // Returns once all of it has been received.
    void tell(std::size_t bytes) const {
        const std::string said(bytes, 'x');
        ASSERT_EQ(::send(theirs.get(), said.data(), said.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes));
        std::array<char, 4096> taken{};
        ASSERT_EQ(::recv(ours.get(), taken.data(), bytes, MSG_WAITALL),
                  static_cast<ssize_t>(bytes));
    }
};

Connection connect_both() {
    const Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(here);
    auto& address = reinterpret_cast<sockaddr&>(here);
    EXPECT_EQ(::bind(listener.get(), &address, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), &address, &size), 0);
    Fd ours{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::connect(ours.get(), &address, size), 0);
    Fd theirs{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    EXPECT_TRUE(theirs.is_open());
    return {std::move(ours), std::move(theirs)};
}

TEST(CallSockets, TheOneThatIsLeftIsMeasuredWhicheverWasOpenedLast) {
    CallSockets sockets;
    EXPECT_EQ(sockets.most_received(), 0U);
    const Connection first = connect_both();
    Connection second = connect_both();
    sockets.add(first.ours.get());
    sockets.add(second.ours.get());
    first.tell(100);
    EXPECT_EQ(sockets.most_received(), 100U);
    second.tell(300);
    EXPECT_EQ(sockets.most_received(), 300U);
    second.ours = Fd{};
    EXPECT_EQ(sockets.most_received(), 100U);
}

TEST(CallSockets, AnotherSocketWithTheNumberOfAClosedOneIsNotMeasured) {
    CallSockets sockets;
    Connection closed = connect_both();
    const Connection other = connect_both();
    const int number = closed.ours.get();
    sockets.add(number);
    other.tell(4000);
    closed.ours = Fd{};
    const Fd same{::dup3(other.ours.get(), number, O_CLOEXEC)};
    ASSERT_EQ(same.get(), number);
    EXPECT_EQ(sockets.most_received(), 0U);
    sockets.add(number);
    EXPECT_EQ(sockets.most_received(), 4000U);
}

TEST(CallSockets, NoSocketIsNotMeasured) {
    CallSockets sockets;
    sockets.add(-1);
    EXPECT_EQ(sockets.most_received(), 0U);
}

}  // namespace
}  // namespace sluice::call_sockets_test
