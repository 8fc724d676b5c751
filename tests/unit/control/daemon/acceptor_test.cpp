#include "control/daemon/acceptor.hpp"

#include "tests/unit/control/daemon/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

namespace sluice::acceptor_test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRequest = "GET /v1/rules HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kLiveRequest = "GET /v1/live HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr auto kPatience = 60s;

// A acceptor whose thread is held up whenever a request has come, until the test lets it go on.
class HeldAcceptor {
public:
    HeldAcceptor() {
        auto made = Acceptor::make(*listen_unix({.path = path()}),
                                   {.all = 16, .of_user = 2, .patience = kPatience}, counters,
                                   [this](int, const Peer&, RequestClass) {
                                       ++asked;
                                       came_.release();
                                       go_on_.acquire();
                                       return false;  // there is never a place
                                   });
        acceptor_ = *std::move(made);
        thread_ = std::jthread{[this](const std::stop_token& stop) { acceptor_->run(stop); }};
    }
    ~HeldAcceptor() {
        thread_.request_stop();
        go_on_.release(1000);
        acceptor_->wake();
    }
    HeldAcceptor(const HeldAcceptor&) = delete;
    HeldAcceptor& operator=(const HeldAcceptor&) = delete;

    [[nodiscard]] Fd connect(std::string_view says = {}) const {
        Result<Fd> client = connect_unix(path());
        EXPECT_TRUE(client);
        EXPECT_EQ(::send(client->get(), says.data(), says.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(says.size()));
        return *std::move(client);
    }
    [[nodiscard]] bool wait_for_request() { return came_.try_acquire_for(kPatience); }
    void go_on(int times = 1) { go_on_.release(times); }

    ApiCounters counters;
    std::atomic<int> asked = 0;

private:
    [[nodiscard]] std::string path() const { return folder_ / "s"; }

    TemporaryFolder folder_;
    std::counting_semaphore<> came_{0};
    std::counting_semaphore<> go_on_{0};
    std::unique_ptr<Acceptor> acceptor_;
    std::jthread thread_;
};

bool is_open(const Fd& client) {
    pollfd one{.fd = client.get(), .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 0) == 0;
}

// One batch of events holds: two newcomers, and the end of who was turned away for the first of
// them. The second has the descriptor of the latter.
TEST(Acceptor, TheEndOfAConnectionIsNotThatOfTheNextOnesDescriptor) {
    HeldAcceptor acceptor;
    Fd leaving = acceptor.connect();
    const Fd holding = acceptor.connect(kRequest);
    ASSERT_TRUE(acceptor.wait_for_request());
    const Fd first = acceptor.connect(kRequest);
    const Fd second = acceptor.connect();
    leaving = Fd{};
    acceptor.go_on();
    // `first` is asked about once all of the batch is done.
    ASSERT_TRUE(acceptor.wait_for_request());
    EXPECT_EQ(acceptor.counters.read()[static_cast<std::size_t>(TurnedAway::Crowd)], 2U);
    acceptor.go_on();
    ASSERT_TRUE(acceptor.wait_for_request()) << "and each time that the acceptor looks about";
    EXPECT_TRUE(is_open(second));
}

// Who finds no place for the next second of the box is told when to come again, and waits for none.
TEST(Acceptor, APageWithoutAPlaceIsAnsweredAtOnce) {
    HeldAcceptor acceptor;
    const Fd page = acceptor.connect(kLiveRequest);
    ASSERT_TRUE(acceptor.wait_for_request());
    acceptor.go_on(1000);  // it asks again until its patience is over
    std::string answer;
    std::array<char, 4096> bytes;
    for (ssize_t got = 1; got > 0;) {
        pollfd one{.fd = page.get(), .events = POLLIN, .revents = 0};
        (void)::poll(&one, 1, -1);
        got = ::recv(page.get(), bytes.data(), bytes.size(), 0);
        answer.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
    EXPECT_NE(answer.find("\r\nRetry-After: 5\r\n"), std::string::npos);
    EXPECT_NE(answer.find("\"again_in\":5"), std::string::npos);
    EXPECT_EQ(acceptor.counters.read()[static_cast<std::size_t>(TurnedAway::LivePlace)], 1U);
}

}  // namespace
}  // namespace sluice::acceptor_test
