#pragma once
#include "control/daemon/nobody.hpp"
#include "control/daemon/web/role.hpp"
#include "control/daemon/web/way.hpp"
#include "lib/wire/socket.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
    std::string source{};        // the address that it came from by TCP; empty: by a Unix socket
    Role role = Role::None;      // of who asks
    Way way = Way::Unix;         // by which they have it
    std::string user{};          // their name, for the audit and for people
    std::string session{};       // the token of their session; empty: they have none
    std::string tenant{};        // that they belong to, of the role Tenant alone
    uid_t reads_as = kNobody;    // the user as whom they are told what lists say
    std::string content_type{};  // these three as the headers say them
    std::string accept_encoding{};
    std::string if_none_match{};

    // True of a request from the dashboard, by a session or by a trusted proxy.
    [[nodiscard]] bool via_web() const noexcept { return way == Way::Session || way == Way::Proxy; }
};

// True if the answer may be compressed: `Accept-Encoding` has gzip, and not at 0.
[[nodiscard]] bool takes_gzip(const HttpRequest& request);

struct HttpResponse {
    unsigned status = 200;
    std::string type = "application/json";
    std::string body;
    std::string allow;         // of a 405
    std::string etag;          // of what a change can name by If-Match; empty: none
    unsigned retry_after = 0;  // seconds; 0: nothing is said of it
    std::string encoding{};    // Content-Encoding; empty: none
    std::vector<std::pair<std::string, std::string>> headers{};  // further ones
    std::string_view fixed{};  // bytes that last as long as the process, in place of `body`
    // Bytes that several answers have in common, likewise.
    std::shared_ptr<const std::string> shared{};
    bool is_silent = false;  // the connection is closed in place of an answer
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
// There are as many clients of /v1/live as may be: 503, and when to come again (`again_in`).
[[nodiscard]] HttpResponse no_live_place();
// A request that has no place is answered so, with 503.
inline constexpr const char* kNoPlace =
    "as many requests as may be are under way already; try again";

}  // namespace sluice
