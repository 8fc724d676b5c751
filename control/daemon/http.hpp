#pragma once
#include "lib/wire/socket.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMaxBody = 64U << 20;

// A part of a form. Its content is shared, since it may be large.
struct FormPart {
    std::string name;
    std::string file_name;  // percent-decoded
    std::shared_ptr<std::string> content;
};

// One request, whole.
struct HttpRequest {
    std::string method;
    std::string path;  // decoded, without the query
    std::map<std::string, std::string> query;
    std::string repeated{};  // an argument of the query that is there twice; empty: none is
    std::string body;
    std::vector<FormPart> parts{};  // of a form, in place of `body`
    std::string if_match{};         // what If-Match says; empty: it is not there
    Peer peer;
    std::string source{};    // the address that it came from by TCP; empty: by a Unix socket
    bool read_only = false;  // came by a socket that changes nothing
};

struct HttpResponse {
    unsigned status = 200;
    std::string type = "application/json";
    std::string body;
    std::string allow;         // of a 405
    std::string etag;          // of what a change can name by If-Match; empty: none
    unsigned retry_after = 0;  // seconds; 0: nothing is said of it
};

[[nodiscard]] HttpResponse json_response(const nlohmann::ordered_json& body);

// RFC 9457: what went wrong, for programs and people.
[[nodiscard]] HttpResponse problem_response(unsigned status, const std::string& title,
                                            const std::string& detail);
[[nodiscard]] HttpResponse problem_response(unsigned status, const std::string& title,
                                            const std::string& detail,
                                            const nlohmann::ordered_json& problems);
// The caller had no turn, and has one a little later: 429 at a bound of a call's own, 503 at one of
// the box.
[[nodiscard]] HttpResponse busy_response(unsigned status, const std::string& title,
                                         const std::string& detail);
// A request that has no place is answered so, with 503.
inline constexpr const char* kNoPlace =
    "as many requests as may be are under way already; try again";

}  // namespace sluice
