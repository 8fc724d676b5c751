#include "control/daemon/api/json_body.hpp"

#include "control/daemon/api/api.hpp"
#include "control/visible_text.hpp"

#include <set>
#include <utility>
#include <vector>

namespace sluice {

ReadJson read_json(std::string_view text) {
    ReadJson read;
    std::vector<std::set<std::string>> open;  // members so far, of each object around
    const auto watch = [&](int, Json::parse_event_t event, const Json& parsed) {
        if (event == Json::parse_event_t::object_start) {
            open.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            open.pop_back();
        } else if (event == Json::parse_event_t::key) {
            std::string name = parsed.get<std::string>();
            if (!read.repeated && !open.back().insert(name).second) {
                read.repeated = std::move(name);
            }
        }
        return true;
    };
    read.document = Json::parse(text, watch, false);
    return read;
}

std::variant<Json, HttpResponse> parse_body(const HttpRequest& request) {
    ReadJson read = read_json(request.body);
    if (read.repeated) {
        return bad_request("the body has `" + visible_line(*read.repeated) +
                           "` twice in one object; nobody can know which of the two is meant");
    }
    return std::move(read.document);
}

}  // namespace sluice
