#include "control/json.hpp"

#include "control/visible_text.hpp"

namespace sluice {

Json to_json(const std::vector<Problem>& problems) {
    Json list = Json::array();
    for (const Problem& problem : problems) {
        list.push_back({{"file", problem.file},
                        {"line", problem.at.line},
                        {"column", problem.at.column},
                        {"severity", problem.severity == Severity::Error ? "error" : "warning"},
                        {"message", problem.message}});
    }
    return list;
}

std::vector<Problem> problems_from(const Json& list) {
    std::vector<Problem> problems;
    for (const Json& item : list) {
        Problem problem;
        problem.file = item.at("file").is_null() ? std::string{} : text_at(item, "file");
        problem.at.line = item.at("line").get<std::uint32_t>();
        problem.at.column = item.at("column").get<std::uint32_t>();
        problem.severity = item.at("severity") == "warning" ? Severity::Warning : Severity::Error;
        problem.message = text_at(item, item.contains("message") ? "message" : "text");
        problems.push_back(std::move(problem));
    }
    return problems;
}

std::string dump_line(const Json& document) {
    return visible_json(document.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace sluice
