#pragma once
#include "control/daemon/notify/call_sockets.hpp"
#include "control/daemon/notify/delivery_queue.hpp"
#include "lib/rules/box_config.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <curl/curl.h>
#include <sys/socket.h>

namespace sluice {

// True for addresses that no notice goes to, whatever a name resolves to: link-local ones, at which
// clouds tell secrets to whoever asks from the machine (169.254.0.0/16, fe80::/10, fd00:ec2::/32).
[[nodiscard]] bool is_link_local(const sockaddr& address) noexcept;

// A webhook as sluiced has read it.
struct WebhookTarget {
    Webhook webhook;  // its files as they are opened
    std::string secret;
};

// One POST of a notice. Bounded in time and in what it takes of the answer; TLS is verified,
// redirects are not followed, and no proxy of the environment is asked.
class WebhookCall {
public:
    static constexpr long kConnectMs = 5'000;
    static constexpr long kWholeMs = 10'000;
    static constexpr std::size_t kMostAnswer = 64U << 10;  // bytes, its headers included
    // Bytes of the connection, with what is no part of an answer: the handshake of TLS, extensions
    // of chunks.
    static constexpr std::uint64_t kMostReceived = 256U << 10;

    WebhookCall(const WebhookTarget& target, const DeliveryQueue::Waiting& notice,
                std::int64_t utc);
    WebhookCall(const WebhookCall&) = delete;
    WebhookCall& operator=(const WebhookCall&) = delete;
    WebhookCall(WebhookCall&&) = delete;
    WebhookCall& operator=(WebhookCall&&) = delete;
    ~WebhookCall();

    [[nodiscard]] CURL* easy() const noexcept { return easy_; }

    struct Result {
        DeliveryQueue::Outcome outcome = DeliveryQueue::Outcome::TryAgain;
        long status = 0;      // of HTTP; 0: none came
        std::string problem;  // empty: it was sent
    };
    // The connection, as libcurl's calls back see it.
    struct Connection {
        CallSockets sockets;  // libcurl's own
        bool was_link_local = false;
    };
    // Once libcurl is done with it; `code` is a CURLcode.
    [[nodiscard]] Result result(int code) const;

private:
    void set_limits();

    CURL* easy_;
    curl_slist* headers_ = nullptr;
    std::string body_;
    std::size_t answered_ = 0;
    Connection connection_;
};

}  // namespace sluice
