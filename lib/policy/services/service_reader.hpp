#pragma once
#include "lib/policy/rules/rule_reader.hpp"

namespace sluice {

struct ReadService {
    Service service;
    // The condition of its clients' packets as written, and its protocol's transport.
    Expression when;
    bool has_condition = false;  // it has been read
    ServiceSummary summary;
};

// An item of `services`. Reports what is wrong.
[[nodiscard]] ReadService read_service(const YamlNode& node, const FileContext& file);

}  // namespace sluice
