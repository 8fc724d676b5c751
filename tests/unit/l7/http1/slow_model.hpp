#pragma once
#include "lib/l7/http1/request_head.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::test {

// A request's head read slowly and plainly, string by string, sharing nothing with lib/l7 but the
// names of its values: what the parser is held to.
struct SlowHead {
    HeadStatus status = HeadStatus::NeedMore;
    LineFault fault = LineFault::None;
    std::size_t size = 0;
    std::string method, target;
    std::string path, query, host;
    bool has_path = false, has_query = false, has_host = false;
    int minor_version = 1;
    bool keep_alive = true;
    HttpUpgrade upgrade = HttpUpgrade::None;
    BodyFraming body;
    bool ends_connection = false;
    std::vector<std::string> upgrade_lines;
    std::set<HeadShape> shapes;
    std::map<std::string, std::vector<std::string>> headers;  // by name in lower case
    std::map<std::string, std::vector<std::string>> cookies;
};

[[nodiscard]] SlowHead read_slowly(std::string_view bytes, std::size_t limit, ReadingStance stance);
[[nodiscard]] std::string slow_path(std::string path, std::set<HeadShape>& shapes);
[[nodiscard]] std::string slow_host(std::string host, std::set<HeadShape>& shapes);

}  // namespace sluice::test
