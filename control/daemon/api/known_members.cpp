#include "control/daemon/api/known_members.hpp"

#include "control/daemon/api/api.hpp"
#include "control/visible_text.hpp"

#include <algorithm>

namespace sluice {

std::string unknown_member(const Json& body, std::initializer_list<std::string_view> known) {
    for (const auto& [name, value] : body.items()) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            std::string all;
            for (const std::string_view one : known) {
                all += (all.empty() ? "`" : ", `") + std::string{one} + "`";
            }
            return "there is no `" + visible_line(name) + "` in the body; it may have " + all;
        }
    }
    return {};
}

std::optional<HttpResponse> refuse_unknown(const Json& body,
                                           std::initializer_list<std::string_view> known) {
    const std::string wrong = unknown_member(body, known);
    return wrong.empty() ? std::nullopt : std::optional{bad_request(wrong)};
}

}  // namespace sluice
