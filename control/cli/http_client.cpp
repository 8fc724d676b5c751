#include "control/cli/http_client.hpp"

#include "control/text_file.hpp"
#include "lib/base/missing_right.hpp"

#include <curl/curl.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kConnectTimeout{2'000};
constexpr std::size_t kMaxReply = 64U << 20;

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Form = std::unique_ptr<curl_mime, decltype(&curl_mime_free)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

std::size_t collect(char* data, std::size_t size, std::size_t count, void* into) {
    auto& body = *static_cast<std::string*>(into);
    if (body.size() + size * count > kMaxReply) {
        return 0;
    }
    body.append(data, size * count);
    return size * count;
}

void set_target(CURL* easy, const DaemonPlace& place, const DaemonRequest& request) {
    if (place.url.empty()) {
        curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, place.socket.c_str());
        curl_easy_setopt(easy, CURLOPT_URL, ("http://localhost" + request.target).c_str());
        // A proxy in the environment is not meant for a Unix socket.
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
    } else {
        const std::size_t end = place.url.size() - (place.url.ends_with('/') ? 1 : 0);
        curl_easy_setopt(easy, CURLOPT_URL, (place.url.substr(0, end) + request.target).c_str());
    }
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(std::min(kConnectTimeout, request.timeout).count()));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
}

// The headers of every call.
curl_slist* headers_of(const DaemonRequest& request) {
    // Without a wait for "100 Continue".
    curl_slist* list = curl_slist_append(nullptr, "Expect:");
    if (!request.if_match.empty()) {
        const char* const quote = request.if_match.starts_with('"') ? "" : "\"";
        list = curl_slist_append(
            list, fmt::format("If-Match: {}{}{}", quote, request.if_match, quote).c_str());
    }
    return list;
}

Headers set_body(CURL* easy, const DaemonRequest& request) {
    curl_slist* list = headers_of(request);
    if (!request.content_type.empty()) {
        list =
            curl_slist_append(list, fmt::format("Content-Type: {}", request.content_type).c_str());
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, std::string{request.method}.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
    return Headers{list, &curl_slist_free_all};
}

Form set_form(CURL* easy, const DaemonRequest& request) {
    Form form{curl_mime_init(easy), &curl_mime_free};
    for (const UploadPart& part : request.form) {
        curl_mimepart* const into = curl_mime_addpart(form.get());
        curl_mime_name(into, part.name.c_str());
        if (!part.file_name.empty()) {
            curl_mime_filename(into, url_escape(part.file_name).c_str());
        }
        curl_mime_data(into, part.content->data(), part.content->size());
    }
    curl_easy_setopt(easy, CURLOPT_MIMEPOST, form.get());
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, std::string{request.method}.c_str());
    return form;
}

// Empty: none is to be said.
Result<std::string> token_of(const DaemonPlace& place) {
    if (place.url.empty() || place.token_file.empty()) {
        return std::string{};
    }
    Result<std::string> text = read_text_file(place.token_file);
    return text ? text->substr(0, text->find_first_of("\r\n")) : std::move(text);
}

Error unreached(CURL* easy, CURLcode code, const DaemonPlace& place) {
    const std::string& socket = place.url.empty() ? place.socket : place.url;
    long os_error = 0;
    curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &os_error);
    if (code != CURLE_COULDNT_CONNECT || os_error == 0 || !place.url.empty()) {
        return {Errc::Unreachable,
                fmt::format("no answer from sluiced at {}: {}", socket, curl_easy_strerror(code))};
    }
    const std::string missing = os_error == EACCES ? missing_right(socket) : std::string{};
    const std::string advice = !missing.empty() ? missing
                               : os_error == EACCES || os_error == EPERM
                                   ? "run as root or as a member of the socket's group"
                                   : "start sluiced, or name its socket with --socket";
    return {Errc::Unreachable,
            fmt::format("cannot reach sluiced at {}: {}; {}", socket,
                        std::generic_category().message(static_cast<int>(os_error)), advice)};
}

}  // namespace

Result<HttpReply> http_call(const DaemonPlace& place, const DaemonRequest& request) {
    const Result<std::string> token = token_of(place);
    if (!token) {
        return token.error();
    }
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_NOTHING);
    const Easy easy{ready == CURLE_OK ? curl_easy_init() : nullptr, &curl_easy_cleanup};
    if (!easy) {
        return Error{Errc::Unreachable, "libcurl does not start"};
    }
    HttpReply reply;
    set_target(easy.get(), place, request);
    if (!token->empty()) {
        curl_easy_setopt(easy.get(), CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        curl_easy_setopt(easy.get(), CURLOPT_XOAUTH2_BEARER, token->c_str());
    }
    curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &collect);
    curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &reply.body);
    Headers headers{nullptr, &curl_slist_free_all};
    Form form{nullptr, &curl_mime_free};
    if (!request.form.empty()) {
        form = set_form(easy.get(), request);
        headers = Headers{headers_of(request), &curl_slist_free_all};
        curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    } else if (request.method != "GET") {
        headers = set_body(easy.get(), request);
    }
    const CURLcode code = curl_easy_perform(easy.get());
    if (code != CURLE_OK) {
        return unreached(easy.get(), code, place);
    }
    const char* type = nullptr;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &reply.status);
    curl_easy_getinfo(easy.get(), CURLINFO_CONTENT_TYPE, &type);
    reply.content_type = type != nullptr ? type : "";
    return reply;
}

std::string url_escape(std::string_view text) {
    if (text.empty()) {
        return "";  // a length of 0 means that of a C string
    }
    const std::unique_ptr<char, decltype(&curl_free)> escaped{
        curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), &curl_free};
    return escaped != nullptr ? escaped.get() : "";
}

}  // namespace sluice
