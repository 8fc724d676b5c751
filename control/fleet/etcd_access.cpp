#include "control/fleet/etcd_access.hpp"

#include "control/text_file.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <utility>

#include <sys/stat.h>

namespace sluice {
namespace {

constexpr long kConnectMs = 1'000;
constexpr long kWholeMs = 3'000;
constexpr std::size_t kMostReply = 8U << 20;  // bytes: a chunk of a set in base64, several times
constexpr std::size_t kMostSecretFile = 64U << 10;
constexpr long kWatchSilence = 30;  // seconds

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

Result<std::string> read_beside(const std::string& folder, const std::string& file) {
    return file.empty()
               ? Result<std::string>{std::string{}}
               : read_text_file((std::filesystem::path{folder} / file).string(), kMostSecretFile);
}

// The same of a file that nobody but its owner and group may read.
Result<std::string> read_secret_beside(const std::string& folder, const std::string& file) {
    Result<std::string> text = read_beside(folder, file);
    if (!text || file.empty()) {
        return text;
    }
    const std::string path = (std::filesystem::path{folder} / file).string();
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) {
        return Error{Errc::Unreachable, path + ": " + std::strerror(errno)};
    }
    if ((info.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) != 0) {
        return Error{Errc::Refused, path + " can be read or written by others; chmod 600 helps"};
    }
    return text;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find_first_of("\r\n"));
}

std::string host_text(const std::string& host) {
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

// The URL of a call: with TLS the name in the certificate, wherever that server is.
std::string url_of(const EtcdAccess& access, const ServerAddress& server, const char* path) {
    const std::string& host =
        access.has_tls && !access.server_name.empty() ? access.server_name : server.host;
    return fmt::format("{}://{}:{}/v3{}", access.has_tls ? "https" : "http", host_text(host),
                       server.port, path);
}

Headers connect_to(const EtcdAccess& access, const ServerAddress& server) {
    if (!access.has_tls || access.server_name.empty()) {
        return {nullptr, &curl_slist_free_all};
    }
    return {curl_slist_append(nullptr, fmt::format("{}:{}:{}:{}", host_text(access.server_name),
                                                   server.port, host_text(server.host), server.port)
                                           .c_str()),
            &curl_slist_free_all};
}

void set_blob(CURL* easy, CURLoption option, const std::string& text) {
    if (!text.empty()) {
        curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
        curl_easy_setopt(easy, option, &blob);
    }
}

void set_common(CURL* easy, const EtcdAccess& access) {
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, access.has_tls ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    set_blob(easy, CURLOPT_CAINFO_BLOB, access.ca);
    set_blob(easy, CURLOPT_SSLCERT_BLOB, access.cert);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, access.key);
}

Easy new_easy() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    Easy easy{curl_easy_init(), &curl_easy_cleanup};
    if (easy == nullptr) {
        throw std::bad_alloc{};
    }
    return easy;
}

Headers headers_of(const std::string& token) {
    curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
    list = curl_slist_append(list, "Expect:");
    if (!token.empty()) {
        list = curl_slist_append(list, ("Authorization: " + token).c_str());
    }
    return {list, &curl_slist_free_all};
}

std::size_t collect_reply(char* data, std::size_t size, std::size_t count, void* into) {
    auto& body = *static_cast<std::string*>(into);
    if (body.size() + size * count > kMostReply) {
        return 0;
    }
    body.append(data, size * count);
    return size * count;
}

int check_stop(void* token, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::stop_token*>(token)->stop_requested() ? 1 : 0;
}

// One connection is kept from call to call.
class CurlTransport final : public EtcdTransport {
public:
    CurlTransport(EtcdAccess access, std::stop_token stop)
        : access_{std::move(access)}, stop_{std::move(stop)}, easy_{new_easy()} {
        curl_easy_setopt(easy_.get(), CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(easy_.get(), CURLOPT_XFERINFOFUNCTION, check_stop);
        curl_easy_setopt(easy_.get(), CURLOPT_XFERINFODATA, &stop_);
        set_common(easy_.get(), access_);
        curl_easy_setopt(easy_.get(), CURLOPT_TIMEOUT_MS, kWholeMs);
        curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, collect_reply);
    }

    Result<EtcdReply> post(std::size_t server, const EtcdPost& post) override {
        const ServerAddress& address = access_.servers.at(server);
        const Headers headers = headers_of(post.token);
        const Headers place = connect_to(access_, address);
        EtcdReply reply;
        CURL* const easy = easy_.get();
        curl_easy_setopt(easy, CURLOPT_URL, url_of(access_, address, post.path).c_str());
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, place.get());
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post.body.data());
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(post.body.size()));
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply.body);
        const CURLcode code = curl_easy_perform(easy);
        if (code != CURLE_OK) {
            return away(address, code);
        }
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &reply.status);
        return reply;
    }

    [[nodiscard]] std::size_t servers() const override { return access_.servers.size(); }

private:
    // Before a connection stands nothing has come to the server.
    [[nodiscard]] Error away(const ServerAddress& address, CURLcode code) const {
        curl_off_t connected = 0;
        curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME_T, &connected);
        return {connected == 0 ? Errc::Unreachable : Errc::Busy,
                fmt::format("no answer from etcd at {}:{}: {}", host_text(address.host),
                            address.port, curl_easy_strerror(code))};
    }

    EtcdAccess access_;
    std::stop_token stop_;
    Easy easy_;
};

std::size_t note_change(char*, std::size_t size, std::size_t count, void* changed) {
    (*static_cast<const std::function<void()>*>(changed))();
    return size * count;
}

}  // namespace

Result<EtcdAccess> open_etcd(const ClusterEtcd& options, const std::string& folder) {
    EtcdAccess access{.servers = options.addresses, .login = {.user = options.user}};
    Result<std::string> password = read_secret_beside(folder, options.password_file);
    if (!password) {
        return password.error();
    }
    access.login.password = first_line(*password);
    if (!options.tls) {
        return access;
    }
    access.has_tls = true;
    access.server_name = options.tls->server_name;
    Result<std::string> ca = read_beside(folder, options.tls->ca_file);
    Result<std::string> cert = read_beside(folder, options.tls->cert_file);
    Result<std::string> key = read_secret_beside(folder, options.tls->key_file);
    for (const auto* one : {&ca, &cert, &key}) {
        if (!*one) {
            return one->error();
        }
    }
    access.ca = *std::move(ca);
    access.cert = *std::move(cert);
    access.key = *std::move(key);
    return access;
}

std::unique_ptr<EtcdTransport> curl_transport(const EtcdAccess& access, std::stop_token stop) {
    return std::make_unique<CurlTransport>(access, std::move(stop));
}

EtcdClient connect_etcd(const EtcdAccess& access, std::stop_token stop) {
    return {curl_transport(access, std::move(stop)), access.login};
}

void watch_etcd(const EtcdAccess& access, const std::vector<EtcdGet>& watched,
                const std::stop_token& stop, const std::function<void()>& changed) {
    EtcdClient client = connect_etcd(access, stop);
    const EtcdGet first{.key = watched.front().key, .most = 1};
    if (!client.get(first)) {
        return;
    }
    const Result<std::string> token = client.token();
    if (!token) {
        return;
    }
    const ServerAddress& address = access.servers.at(client.server());
    const Easy easy = new_easy();
    set_common(easy.get(), access);
    const Headers headers = headers_of(*token);
    const Headers place = connect_to(access, address);
    const std::string body = watch_text(watched);
    curl_easy_setopt(easy.get(), CURLOPT_URL, url_of(access, address, "/watch").c_str());
    curl_easy_setopt(easy.get(), CURLOPT_CONNECT_TO, place.get());
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, note_change);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &changed);
    curl_easy_setopt(easy.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_LOW_SPEED_TIME, kWatchSilence);
    curl_easy_setopt(easy.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy.get(), CURLOPT_XFERINFOFUNCTION, check_stop);
    curl_easy_setopt(easy.get(), CURLOPT_XFERINFODATA, &stop);
    (void)curl_easy_perform(easy.get());
}

}  // namespace sluice
