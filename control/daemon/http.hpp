#pragma once
#include "lib/wire/socket.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <string>

namespace sluice {

inline constexpr std::size_t kMaxBody = 64U << 20;

// One request, whole.
struct HttpRequest {
    std::string method;
    std::string path;  // decoded, without the query
    std::map<std::string, std::string> query;
    std::string body;
    Peer peer;
    bool read_only = false;  // came by a socket that changes nothing
};

struct HttpResponse {
    unsigned status = 200;
    std::string type = "application/json";
    std::string body;
    std::string allow;  // of a 405
};

[[nodiscard]] HttpResponse json_response(const nlohmann::ordered_json& body);

// RFC 9457: what went wrong, for programs and people.
[[nodiscard]] HttpResponse problem_response(unsigned status, const std::string& title,
                                            const std::string& detail);
[[nodiscard]] HttpResponse problem_response(unsigned status, const std::string& title,
                                            const std::string& detail,
                                            const nlohmann::ordered_json& problems);

}  // namespace sluice
