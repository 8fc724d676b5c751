#include "control/daemon/notify/notice_sender.hpp"

#include "lib/wire/fd.hpp"
#include "tests/unit/control/daemon/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice::notice_sender_test {
namespace {

// A server whose connections are never answered.
class SilentServer {
public:
    SilentServer() : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const generic = reinterpret_cast<sockaddr*>(&address);
        EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
        EXPECT_EQ(::listen(listener_.get(), 8), 0);
        EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
        url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
    }
    [[nodiscard]] const std::string& url() const noexcept { return url_; }

private:
    Fd listener_;
    std::string url_;
};

std::vector<WebhookTarget> ops_at(const std::string& url) {
    WebhookTarget target;
    target.webhook.name = "ops";
    target.webhook.url = url;
    target.secret = "0123456789abcdef";
    return {std::move(target)};
}

std::string problem_of(const std::string& ca_file) {
    std::vector<WebhookTarget> targets = ops_at("https://ops.example.net/");
    targets[0].webhook.ca_file = ca_file;
    const Result<Done> done = check_certificates(targets);
    return done ? "" : done.error().what;
}

TEST(NoticeSender, ACaFileHasACertificateInOneOfTheFormsOfPem) {
    const TemporaryFolder folder;
    for (const char* const form : {"", "X509 ", "TRUSTED "}) {
        const std::string word = std::string{form} + "CERTIFICATE-----\n";
        folder.write("ca.pem", "-----BEGIN " + word + "MIIB\n-----END " + word);
        EXPECT_EQ(problem_of(folder / "ca.pem"), "") << form;
    }
    EXPECT_EQ(problem_of(""), "") << "those of the system";
    folder.write("ca.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n");
    EXPECT_EQ(problem_of(folder / "ca.pem"),
              "the ca_file of the webhook `ops`: " + (folder / "ca.pem") +
                  " has no certificate in the form of PEM");
    EXPECT_TRUE(problem_of(folder / "none.pem")
                    .starts_with("the ca_file of the webhook `ops`: cannot read"))
        << problem_of(folder / "none.pem");
}

TEST(NoticeSender, ATestThatIsUnderWayHoldsUpNoEnd) {
    const SilentServer server;
    NoticeSender sender{ops_at(server.url()), std::chrono::milliseconds{0}};
    std::optional<WebhookCall::Result> result;
    std::atomic<bool> is_done = false;
    std::thread tester{[&] {
        result = sender.test("ops");
        is_done = true;
    }};
    while (sender.states()[0].queued == 0 && !is_done) {
        std::this_thread::yield();
    }
    sender.end_tests();
    tester.join();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->outcome, DeliveryQueue::Outcome::TryAgain);
    EXPECT_EQ(result->problem, "sluiced is ending, and waits for no answer");
    const std::optional<WebhookCall::Result> late = sender.test("ops");
    ASSERT_TRUE(late);
    EXPECT_EQ(late->problem, result->problem);
    EXPECT_EQ(sender.states()[0].queued, 1U) << "it is not sent";
    EXPECT_FALSE(sender.test("other"));
}

}  // namespace
}  // namespace sluice::notice_sender_test
