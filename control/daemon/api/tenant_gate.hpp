#pragma once
#include "control/daemon/http.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// Calls of the table of routes, by what somebody of a tenant may do with them. A row that says
// nothing is none of theirs.
enum class ForTenant : std::uint8_t {
    Refused,
    OwnRule,    // the path names a rule, and it is one of theirs
    OwnName,    // the path names the tenant
    AskedRule,  // so does the query, by `rule`, and has to
    OwnOnly,    // the answer has nothing but what is theirs: the resource sees to it
    Anything,   // the answer is the same for everybody
};

// True of rules that whoever asks may know of: of a tenant's people, their own.
[[nodiscard]] bool may_know(const HttpRequest& request, std::string_view rule_id);

// The refusal of a call that somebody of a tenant makes; nullopt: it may go on. `named` is the part
// of the path that its row leaves open. What is another's is refused as what is not there.
[[nodiscard]] std::optional<HttpResponse> refuse_tenant(const HttpRequest& request, ForTenant may,
                                                        std::string_view named);

}  // namespace sluice
