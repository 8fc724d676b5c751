#include "control/daemon/api/change.hpp"
#include "control/daemon/rule_compile.hpp"
#include "control/json.hpp"
#include "control/treatment_json.hpp"

// The rules in force, as sluiced holds them, for those that compile them again (explain): the text,
// the modes and settings made at run time, and the lists as they were read.
namespace sluice {
namespace {

// The state of a list's file against what is in force: "same", "changed", "sent" along and never
// read, or why it cannot be read.
std::string state_of(const RuleView& view, const std::string& path, const std::string& text) {
    if (view.sent.contains(path)) {
        return "sent";
    }
    StoredRules rules;
    rules.directory = view.directory;
    rules.applied_by = view.applied_by;
    const Result<ListFile> file = read_list(rules, path);
    if (!file) {
        return file.error().what;
    }
    return *file->text == text ? "same" : "changed";
}

Json key_json(const KeySetting& setting) {
    return {{"rule", setting.rule},   {"key", setting.key},
            {"tier", setting.tier},   {"what", static_cast<unsigned>(setting.what)},
            {"limit", setting.limit}, {"rate", setting.rate},
            {"burst", setting.burst}, {"count", setting.count},
            {"until", setting.until}};
}

// The modes of rules and services that are not those of the file.
Json modes_since(const RuleView& view) {
    Json modes = Json::object();
    for (std::size_t i = 0; i < view.rules.size(); ++i) {
        const RuleSummary& rule = view.rules[i];
        if (rule.mode != view.file_modes[i] && rule.kind == RuleKind::Rule) {
            modes[rule.id] = kModeNames[static_cast<std::size_t>(rule.mode)];
        }
    }
    for (std::size_t i = 0; i < view.services.size(); ++i) {
        const ServiceSummary& service = view.services[i];
        if (service.mode != view.service_file_modes[i]) {
            modes[service.id] = kModeNames[static_cast<std::size_t>(service.mode)];
        }
    }
    return modes;
}

// The box's treatment of packets whatever its rules are, as the dataplane has told; null: none was
// connected yet.
Json box_json(const DataplaneLink& link) {
    const std::optional<PacketTreatment> known = link.treatment();
    if (!known) {
        return {};
    }
    Json pairs = Json::array();
    for (const PortRssMapping& port : link.rss_mapping().ports) {
        if (port.dir == Direction::In && !port.pair.empty()) {
            pairs.push_back(port.pair);
        }
    }
    Json json = treatment_json(*known);
    json["pairs"] = std::move(pairs);
    return json;
}

HttpResponse no_rules() {
    return problem_response(404, "no rules", "no rules were ever applied");
}

}  // namespace

HttpResponse get_held(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    if (view->generation == 0) {
        return no_rules();
    }
    Json keys = Json::array();
    for (const KeySetting& setting : view->keys) {
        if (!has_ended(setting)) {
            keys.push_back(key_json(setting));
        }
    }
    Json lists = Json::array();
    for (const auto& [path, text] : view->lists) {
        lists.push_back({{"path", path}, {"file", state_of(*view, path, *text)}});
    }
    Json files = Json::array();
    for (const FileSlice& slice : view->slices) {
        files.push_back({{"name", slice.name}, {"directory", slice.folder}, {"bytes", slice.size}});
    }
    return json_response({{"generation", generation_text(view->generation)},
                          {"file", view->file},
                          {"files", std::move(files)},
                          {"directory", view->directory},
                          {"text", view->text},
                          {"modes", modes_since(*view)},
                          {"keys", std::move(keys)},
                          {"lists", std::move(lists)},
                          {"box", box_json(services.link)}});
}

// One list, by the path that the rule file gives it. It was read with the rights of the user
// who applied the file: root and that user alone may read it here.
HttpResponse get_held_list(const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    if (request.peer.uid != 0 && request.peer.uid != view->applied_by) {
        return problem_response(403, "not yours to read",
                                "lists are told to root and to who applied the rules");
    }
    const auto list = view->lists.find(argument(request, "path", ""));
    if (list == view->lists.end()) {
        return problem_response(404, "no such list", "the rules in force read no such list");
    }
    return {.status = 200, .type = "application/octet-stream", .body = *list->second, .allow = {}};
}

}  // namespace sluice
