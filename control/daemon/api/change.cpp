#include "control/daemon/api/change.hpp"

#include <fmt/chrono.h>

#include <cmath>
#include <ctime>

namespace sluice {

namespace {

HttpResponse bad(const std::string& why) {
    return problem_response(400, "bad request", why);
}

// Parts `rules`, once, and `list`, whose file name is the path that the rule file gives it.
// nullopt: it has other parts.
std::optional<RuleFile> from_form(const std::vector<FormPart>& parts) {
    RuleFile file;
    std::size_t texts = 0;
    for (const FormPart& part : parts) {
        if (part.name == "rules") {
            file.text = *part.content;
            ++texts;
        } else if (part.name == "list" && !part.file_name.empty()) {
            file.lists[part.file_name] = part.content;
        } else {
            return std::nullopt;
        }
    }
    return texts == 1 ? std::optional{std::move(file)} : std::nullopt;
}

}  // namespace

std::variant<RuleFile, HttpResponse> rule_file_of(const HttpRequest& request) {
    RuleFile file;
    if (request.parts.empty()) {
        file.text = request.body;
    } else if (std::optional<RuleFile> form = from_form(request.parts)) {
        file = *std::move(form);
    } else {
        return bad("the form's parts are `rules`, once, and `list` with a file name each");
    }
    file.name = argument(request, "file", "rules.yaml");
    file.from = request.peer.uid;
    file.directory = argument(request, "directory", "");
    if (!file.directory.empty() && !file.directory.starts_with('/')) {
        return bad("`directory` is an absolute path");
    }
    return file;
}

HttpResponse refused(const Refusal& refusal) {
    switch (refusal.kind) {
        case Refusal::Kind::DoesNotCompile:
            return problem_response(422, "the rules were refused", refusal.what,
                                    to_json(refusal.problems));
        case Refusal::Kind::Empty:
            return problem_response(409, "empty rule set", refusal.what);
        case Refusal::Kind::TooLarge:
            return problem_response(413, "too large", refusal.what);
        case Refusal::Kind::NoSuchRule:
            return problem_response(404, "no such rule", refusal.what);
        case Refusal::Kind::OthersInForce:
            return problem_response(412, "other rules are in force", refusal.what);
        case Refusal::Kind::Superseded:
            return problem_response(409, "superseded", refusal.what);
        case Refusal::Kind::NothingToConfirm:
            return problem_response(409, "nothing to confirm", refusal.what);
        case Refusal::Kind::NothingSet:
            return problem_response(404, "nothing set", refusal.what);
        case Refusal::Kind::NothingBefore:
            return problem_response(409, "nothing to go back to", refusal.what);
        case Refusal::Kind::NoDataplane:
            return problem_response(503, "no dataplane", refusal.what);
        case Refusal::Kind::ByDataplane:
            return problem_response(502, "refused by the dataplane", refusal.what);
        default:
            return problem_response(507, "nothing was changed", refusal.what);
    }
}

void record(Services& services, const HttpRequest& request, const std::string& call,
            const RuleChange& change) {
    services.audit.write({.who = request.peer,
                          .call = call,
                          .before = generation_text(change.before),
                          .after = generation_text(change.refusal ? change.before : change.after),
                          .outcome = change.refusal ? "refused: " + change.refusal->what : "done"});
}

HttpResponse changed(const RuleChange& change, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    return json_response({{"generation", generation_text(change.after)},
                          {"rules", change.rules},
                          {"warnings", to_json(change.warnings)},
                          {"unconfirmed", unconfirmed_json(change.unconfirmed)},
                          {"panic", stats ? Json(stats->panic) : Json()}});
}

bool has_ended(const KeySetting& setting) {
    return setting.until != 0 && setting.until <= std::time(nullptr);
}

Json setting_json(const KeySetting& setting) {
    return {
        {"key", setting.key},
        {"tier", setting.tier},
        {"set", text_of(setting)},
        {"until", setting.until == 0
                      ? Json()
                      : Json(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                         fmt::gmtime(static_cast<std::time_t>(setting.until))))},
        {"reason", setting.reason},
        {"by", setting.set_by}};
}

Json unconfirmed_json(const std::optional<Unconfirmed>& unconfirmed) {
    if (!unconfirmed) {
        return nullptr;
    }
    const std::chrono::duration<double> left = left_until(unconfirmed->end.at, boot_time());
    return {{"seconds_left", std::round(left.count() * 10) / 10},
            {"until", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                  fmt::gmtime(static_cast<std::time_t>(unconfirmed->end.utc)))},
            {"goes_back_to", generation_text(unconfirmed->goes_back_to)}};
}

}  // namespace sluice
