#include "control/cli/explain/running_rules.hpp"

#include "control/cli/replay/setup.hpp"
#include "control/list_folder.hpp"
#include "control/rule_files.hpp"
#include "control/treatment_json.hpp"

#include <algorithm>
#include <memory>

namespace sluice {
namespace {

ModeOverrides modes_from(const Json& modes) {
    ModeOverrides overrides;
    for (const auto& [rule, word] : modes.items()) {
        const auto mode = std::find(kModeNames.begin(), kModeNames.end(), word.get<std::string>());
        if (mode != kModeNames.end()) {
            overrides[rule] = static_cast<Mode>(mode - kModeNames.begin());
        }
    }
    return overrides;
}

KeySettings keys_from(const Json& list) {
    KeySettings keys;
    for (const Json& one : list) {
        keys.push_back({.rule = one.at("rule"),
                        .key = one.at("key"),
                        .tier = one.at("tier"),
                        .what = static_cast<KeySetting::What>(one.at("what").get<unsigned>()),
                        .limit = one.at("limit"),
                        .rate = one.at("rate"),
                        .burst = one.at("burst"),
                        .count = one.at("count"),
                        .until = one.at("until")});
    }
    return keys;
}

std::vector<FileSlice> slices_from(const Json& files) {
    std::vector<FileSlice> slices;
    for (const Json& one : files) {
        slices.push_back({one.at("name"), one.at("directory"), one.at("bytes")});
    }
    return slices;
}

// A list as sluiced holds it.
Result<ListFile> held_list(const Options& options, const std::string& folder,
                           const std::string& path) {
    Result<HttpReply> reply =
        http_call(place_of(options), {.target = "/v1/rules/held/list?path=" + url_escape(path)});
    if (!reply) {
        return reply.error();
    }
    if (reply->status == 403) {
        return Error{Errc::Unreachable, "the list " + path +
                                            " as it is in force is told only to root and to who "
                                            "applied the rules"};
    }
    if (reply->status != 200) {
        return Error{Errc::Unreachable, "sluiced does not hold the list " + path};
    }
    return ListFile{list_path(folder, path),
                    std::make_shared<const std::string>(std::move(reply->body))};
}

std::vector<std::string> notes_of(const Json& lists) {
    std::vector<std::string> notes;
    for (const Json& list : lists) {
        const auto state = text_at(list, "file");
        if (state != "same" && state != "sent") {
            notes.push_back("the list " + text_at(list, "path") +
                            " is judged by as it is in force; its file is not that: " +
                            (state == "changed" ? "it has changed" : state));
        }
    }
    return notes;
}

// Scopes of limits as the box has them: they follow from its ports, which sluicectl cannot see.
void take_scopes(const Options& options, std::vector<RuleSummary>& rules) {
    const auto answer = ask(options, {.target = "/v1/rules"});
    if (std::holds_alternative<DaemonRefusal>(answer)) {
        return;
    }
    const Json& shown = std::get<Json>(answer).at("rules");
    for (std::size_t i = 0; i < rules.size() && i < shown.size(); ++i) {
        const Json& limits = shown[i].at("limits");
        for (std::size_t j = 0; j < rules[i].limits.size() && j < limits.size(); ++j) {
            LimitSummary& limit = rules[i].limits[j];
            const auto bound = limits[j].at("bound").get<std::string>();
            limit.scope = limits[j].at("scope").get<std::string>();
            limit.scope_note = bound.substr(std::min(limit.bound.size(), bound.size()));
        }
    }
}

}  // namespace

std::variant<HeldRules, DaemonRefusal> running_rules(const Options& options) {
    const auto answer = ask(options, {.target = "/v1/rules/held"});
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return *refusal;
    }
    const Json& held = std::get<Json>(answer);
    const Json box = held.value("box", Json{});
    HeldRules rules{.rules = {},
                    .generation = held.at("generation"),
                    .file = held.at("file"),
                    .treatment = treatment_from(box),
                    .pairs = box.is_object() ? box.at("pairs").get<std::vector<std::string>>()
                                             : std::vector<std::string>{},
                    .notes = notes_of(held.at("lists"))};
    const auto text = text_at(held, "text");
    const KeySettings keys = keys_from(held.at("keys"));
    const ListReader lists = [&](const std::string& path) {
        return held_list(options, held.at("directory"), path);
    };
    Problems problems{rules.file};
    const std::vector<FileSlice> slices = slices_from(held.at("files"));
    const std::vector<RuleFilePart> parts = parts_of(text, slices);
    std::optional<CompiledRules> compiled = compile_rules(
        {.file = rules.file, .text = text, .lists = &lists, .keys = &keys, .parts = parts},
        Purpose::Enforce, modes_from(held.at("modes")), problems);
    if (!compiled) {
        const auto& all = problems.list();
        const auto error = std::ranges::find(all, Severity::Error, &Problem::severity);
        const Problem& first = error == all.end() ? all.front() : *error;
        return DaemonRefusal{
            ExitCode::Refused,
            "the rules in force cannot be compiled here; are sluicectl and sluiced of "
            "one version? " +
                render(first, text_with(first, rules.file, text, slices)),
            {}};
    }
    take_scopes(options, compiled->rules);
    Result<ReplayRules> ready = ready_to_run(*std::move(compiled), {});
    if (!ready) {
        return DaemonRefusal{ExitCode::Refused, ready.error().what, {}};
    }
    rules.rules = *std::move(ready);
    return rules;
}

}  // namespace sluice
