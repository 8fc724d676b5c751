#pragma once
#include "lib/base/result.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A part of a form.
struct UploadPart {
    std::string name;
    std::string file_name;  // as the reader is to have it; empty: none
    std::shared_ptr<const std::string> content;
};

struct DaemonRequest {
    std::string_view method = "GET";
    std::string target;  // path and query
    std::string_view content_type{};
    std::string body{};
    std::vector<UploadPart> form{};             // in place of type and body
    std::chrono::milliseconds timeout{30'000};  // for connecting and the answer
    std::string if_match{};                     // a generation or an ETag; empty: none
};

struct HttpReply {
    long status = 0;
    std::string content_type;
    std::string body;
};

// The place of sluiced: a Unix socket or, where `url` is given, that, with the token in a file.
struct DaemonPlace {
    std::string socket;
    std::string url{};         // "http://192.0.2.1:8480"
    std::string token_file{};  // empty: none is said
};

// One HTTP request. An Error means that there was no answer (Unreachable).
[[nodiscard]] Result<HttpReply> http_call(const DaemonPlace& place, const DaemonRequest& request);

// For a path segment or a query value: everything but unreserved characters as %XX.
[[nodiscard]] std::string url_escape(std::string_view text);

}  // namespace sluice
