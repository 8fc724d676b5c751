#include "control/daemon/notify/webhook_call.hpp"

#include "control/daemon/notify/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include <netinet/in.h>

namespace sluice {
namespace {

constexpr int kTooManyRequests = 429;
constexpr int kRequestTimeout = 408;
constexpr int kTooEarly = 425;
constexpr long kReadSize = 4096;  // bytes that libcurl asks the connection for at once

// Bytes of the answer are counted and forgotten; too many end the call.
std::size_t count_answer(char*, std::size_t size, std::size_t count, void* counted) {
    auto& so_far = *static_cast<std::size_t*>(counted);
    so_far += size * count;
    return so_far > WebhookCall::kMostAnswer ? 0 : size * count;
}

curl_socket_t open_socket(void* about, curlsocktype, curl_sockaddr* address) {
    auto& connection = *static_cast<WebhookCall::Connection*>(about);
    if (is_link_local(address->addr)) {
        connection.was_link_local = true;
        return CURL_SOCKET_BAD;
    }
    const curl_socket_t opened =
        ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    connection.sockets.add(opened);
    return opened;
}

// Called after each read, of kReadSize bytes at most. The kernel counts what came over the
// connection, libcurl what the answer has of it.
int check_received(void* about, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const auto& connection = *static_cast<const WebhookCall::Connection*>(about);
    return connection.sockets.most_received() > WebhookCall::kMostReceived ? 1 : 0;
}

bool is_link_local_v4(const unsigned char* bytes) {
    return bytes[0] == 169 && bytes[1] == 254;
}

// A refusal that the same notice would meet again.
bool is_final(long status) {
    return status >= 300 && status < 500 && status != kTooManyRequests &&
           status != kRequestTimeout && status != kTooEarly;
}

}  // namespace

bool is_link_local(const sockaddr& address) noexcept {
    if (address.sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof(v4));
        std::array<unsigned char, 4> bytes{};
        std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
        return is_link_local_v4(bytes.data());
    }
    if (address.sa_family != AF_INET6) {
        return true;  // nothing else is asked for
    }
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof(v6));
    const unsigned char* const bytes = v6.sin6_addr.s6_addr;
    const bool of_cloud = bytes[0] == 0xFD && bytes[1] == 0 && bytes[2] == 0x0E && bytes[3] == 0xC2;
    return of_cloud || IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && is_link_local_v4(bytes + 12));
}

WebhookCall::WebhookCall(const WebhookTarget& target, const DeliveryQueue::Waiting& notice,
                         std::int64_t utc)
    : easy_{curl_easy_init()}, body_{notice.body} {
    if (easy_ == nullptr) {
        throw std::bad_alloc{};
    }
    for (const std::string& line :
         {std::string{"Content-Type: application/json"}, std::string{"Expect:"},
          "Sluice-Notice: " + notice.id,
          "Sluice-Signature: " + signature_of(target.secret, utc, body_)}) {
        headers_ = curl_slist_append(headers_, line.c_str());
    }
    curl_easy_setopt(easy_, CURLOPT_URL, target.webhook.url.c_str());
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, "sluiced/" SLUICE_VERSION);
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, body_.data());
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(body_.size()));
    if (!target.webhook.ca_file.empty()) {
        curl_easy_setopt(easy_, CURLOPT_CAINFO, target.webhook.ca_file.c_str());
    }
    set_limits();
}

// A resolver that hangs is left behind (QUICK_EXIT) and holds up nobody's end.
void WebhookCall::set_limits() {
    curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");
    curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
    curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, kWholeMs);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, count_answer);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, &answered_);
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, count_answer);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, &answered_);
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy_, CURLOPT_OPENSOCKETDATA, &connection_);
    curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, kReadSize);
    curl_easy_setopt(easy_, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy_, CURLOPT_XFERINFOFUNCTION, check_received);
    curl_easy_setopt(easy_, CURLOPT_XFERINFODATA, &connection_);
    curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
}

WebhookCall::~WebhookCall() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
}

// A status of success is one, however much comes behind it. libcurl's texts name no URL.
WebhookCall::Result WebhookCall::result(int code) const {
    using Outcome = DeliveryQueue::Outcome;
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    const bool is_ours = code == CURLE_WRITE_ERROR || code == CURLE_ABORTED_BY_CALLBACK;
    const bool has_answer = code == CURLE_OK || (is_ours && status != 0);
    if (connection_.was_link_local && !has_answer) {
        return {Outcome::Refused, 0, "it is at a link-local address, where no notice goes"};
    }
    if (is_ours && !has_answer) {
        return {Outcome::TryAgain, 0, "it sent more than an answer has"};
    }
    if (!has_answer) {
        return {Outcome::TryAgain, 0, curl_easy_strerror(static_cast<CURLcode>(code))};
    }
    if (status >= 200 && status < 300) {
        return {Outcome::Sent, status, ""};
    }
    return {is_final(status) ? Outcome::Refused : Outcome::TryAgain, status,
            fmt::format("it answered {}", status)};
}

}  // namespace sluice
