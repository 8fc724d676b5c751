#include "control/service_json.hpp"

#include "lib/policy/services/stance_text.hpp"

namespace sluice {

Json stance_json(const Stance& stance) {
    Json beyond = Json::array();
    for (const Field field : stance.beyond) {
        beyond.push_back(row_of(field).name);
    }
    return {{"kind", kStanceNames[static_cast<std::size_t>(stance.kind)]},
            {"services", stance.services},
            {"monitored", stance.monitored},
            {"beyond", std::move(beyond)},
            {"text", text_of(stance)}};
}

Json service_json(const ServiceSummary& service) {
    Json settings = Json::object();
    for (const NamedText& setting : service.settings) {
        settings[std::string{setting.name}] = setting.value;
    }
    Json row{{"id", service.id},
             {"description", service.description},
             {"protocol", kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]},
             {"mode", kModeNames[static_cast<std::size_t>(service.mode)]},
             {"line", service.line},
             {"when", service.when},
             {"settings", std::move(settings)}};
    if (!service.file.empty()) {
        row["file"] = service.file;
    }
    return row;
}

Json services_json(const std::vector<ServiceSummary>& services) {
    Json list = Json::array();
    for (const ServiceSummary& service : services) {
        list.push_back(service_json(service));
    }
    return list;
}

std::string text_of(const std::vector<NamedText>& settings) {
    std::string text;
    for (const NamedText& setting : settings) {
        const bool counts = setting.name == "on_unreadable" && setting.value == "count";
        text += (text.empty() ? "" : ", ") + std::string{setting.name} + " " + setting.value +
                (counts ? " (one each 1,460 bytes)" : "");
    }
    return text;
}

}  // namespace sluice
