#include "control/daemon/api/api.hpp"
#include "control/fields_json.hpp"
#include "control/schema/file_schemas.hpp"

// The language of rules, for editors: as `sluicectl fields` and `sluicectl schema` have it.
namespace sluice {

HttpResponse get_fields(const HttpRequest& /*request*/, Services& /*services*/) {
    return json_response(fields_json());
}

HttpResponse get_schema(const HttpRequest& request, Services& /*services*/) {
    const std::string of = argument(request, "of", "rules");
    if (of != "rules" && of != "config") {
        return bad_request("`of` is rules or config");
    }
    return json_response(of == "rules" ? rule_file_schema() : box_file_schema());
}

}  // namespace sluice
