#include "control/daemon/notify/webhook_call.hpp"

#include <gtest/gtest.h>

#include "lib/wire/fd.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::webhook_call_test {
namespace {

bool refused_v4(const char* text) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_EQ(::inet_pton(AF_INET, text, &address.sin_addr), 1) << text;
    return is_link_local(reinterpret_cast<const sockaddr&>(address));
}

bool refused_v6(const char* text) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    EXPECT_EQ(::inet_pton(AF_INET6, text, &address.sin6_addr), 1) << text;
    return is_link_local(reinterpret_cast<const sockaddr&>(address));
}

TEST(WebhookCall, NoNoticeGoesToALinkLocalAddress) {
    for (const char* const address : {"169.254.169.254", "169.254.0.1"}) {
        EXPECT_TRUE(refused_v4(address)) << address;
    }
    for (const char* const address :
         {"fe80::1", "febf::1", "::ffff:169.254.169.254", "fd00:ec2::254"}) {
        EXPECT_TRUE(refused_v6(address)) << address;
    }
    for (const char* const address : {"127.0.0.1", "10.0.0.1", "192.0.2.1", "168.254.0.1"}) {
        EXPECT_FALSE(refused_v4(address)) << address;
    }
    for (const char* const address : {"::1", "2001:db8::1", "fd00:1::1", "::ffff:192.0.2.1"}) {
        EXPECT_FALSE(refused_v6(address)) << address;
    }
}

// What a name resolves to is known at the socket alone.
TEST(WebhookCall, ALinkLocalTargetIsRefusedBeforeAnythingIsSent) {
    for (const char* const url : {"http://169.254.169.254/", "http://[fe80::1]/"}) {
        const WebhookTarget target{{.name = "ops", .url = url}, "0123456789abcdef"};
        const WebhookCall call{target, {.id = "1", .body = "{}"}, 1};
        const WebhookCall::Result result = call.result(curl_easy_perform(call.easy()));
        EXPECT_EQ(result.outcome, DeliveryQueue::Outcome::Refused) << url;
        EXPECT_EQ(result.status, 0) << url;
        EXPECT_EQ(result.problem, "it is at a link-local address, where no notice goes") << url;
    }
}

// A webhook that takes one call, answers with `head`, and then with `more` until nobody takes it.
class EndlessServer {
public:
    EndlessServer(std::string_view head, std::string_view more) {
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(here);
        auto& address = reinterpret_cast<sockaddr&>(here);
        EXPECT_EQ(::bind(listener_.get(), &address, size), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
        EXPECT_EQ(::getsockname(listener_.get(), &address, &size), 0);
        port_ = ntohs(here.sin_port);
        thread_ = std::thread{[this, head = std::string{head}, more = std::string{more}] {
            const Fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
            const std::string* next = &head;
            for (ssize_t sent = 0; sent >= 0; next = &more) {
                sent = ::send(client.get(), next->data(), next->size(), MSG_NOSIGNAL);
                sent_ += sent > 0 ? static_cast<std::size_t>(sent) : 0;
            }
        }};
    }
    EndlessServer(const EndlessServer&) = delete;
    EndlessServer& operator=(const EndlessServer&) = delete;
    EndlessServer(EndlessServer&&) = delete;
    EndlessServer& operator=(EndlessServer&&) = delete;
    ~EndlessServer() { end(); }

    // -> the bytes that were taken of it, by the kernel too; once the call is over
    std::size_t end() {
        if (thread_.joinable()) {
            thread_.join();
        }
        return sent_;
    }
    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/hook";
    }

private:
    Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    unsigned port_ = 0;
    std::size_t sent_ = 0;
    std::thread thread_;
};

// In ten seconds it would take gigabytes.
constexpr std::size_t kBuffersOfTheKernel = 32U << 20;

TEST(WebhookCall, OfAnAnswerWithoutEndLittleIsRead) {
    const struct {
        std::string_view head;
        std::string_view more;
        std::string_view problem;
    } rows[] = {
        {"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n1;", "e", "it answered 503"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "e", ""},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "b", ""},
    };
    for (const auto& row : rows) {
        std::string more;
        while (more.size() < 65536) {
            more += row.more;
        }
        EndlessServer server{row.head, more};
        {
            const WebhookTarget target{{.name = "ops", .url = server.url()}, "0123456789abcdef"};
            const WebhookCall call{target, {.id = "1", .body = "{}"}, 1};
            const int code = curl_easy_perform(call.easy());
            EXPECT_EQ(call.result(code).problem, row.problem) << row.head;
        }
        const std::size_t taken = server.end();
        EXPECT_LT(taken, kBuffersOfTheKernel) << row.head;
        RecordProperty("taken", std::to_string(taken));
    }
}

}  // namespace
}  // namespace sluice::webhook_call_test
