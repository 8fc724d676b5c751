#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/whole_number.hpp"

#include <nlohmann/json.hpp>

namespace sluice {

// `changed_by` and, of who came by the dashboard, `changed_by_name`, as kept sets have them.
inline void add_author(nlohmann::json& document, const Author& author) {
    document["changed_by"] = author.uid;
    if (!author.name.empty()) {
        document["changed_by_name"] = author.name;
    }
}
// Throws where it is none; those of versions that kept no name have none.
[[nodiscard]] inline Author read_author(const nlohmann::json& document) {
    return {whole_number_in<uid_t>(document.at("changed_by")),
            document.value("changed_by_name", "")};
}

}  // namespace sluice
