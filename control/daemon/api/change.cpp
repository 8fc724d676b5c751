#include "control/daemon/api/change.hpp"

#include "control/confirm_time.hpp"
#include "control/list_folder.hpp"
#include "control/visible_text.hpp"

#include <fmt/chrono.h>

#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

namespace sluice {

namespace {

constexpr std::size_t kMaxFileName = 4096;  // bytes: as long as any path

// A part `rules` of several has the path of its file as file name, from the folder `from` on; what
// came by standard input has the folder itself.
FileSlice slice_of(const FormPart& part, const std::string& from) {
    return {.name = part.file_name,
            .folder =
                part.file_name == kStandardInput
                    ? from
                    : std::filesystem::path{list_path(from, part.file_name)}.parent_path().string(),
            .size = part.content->size()};
}

// Parts `rules`, once, or one with a file name for each of several files in their order; and
// `list`, whose file name is the path that the rule file gives it.
Result<RuleFile> from_form(const std::vector<FormPart>& parts, const std::string& from) {
    RuleFile file;
    for (const FormPart& part : parts) {
        if (part.name == "rules") {
            file.text += *part.content;
            file.slices.push_back(slice_of(part, from));
        } else if (part.name == "list" && !part.file_name.empty()) {
            if (!file.lists.emplace(part.file_name, part.content).second) {
                return Error{Errc::BadSyntax,
                             "the form has the list `" + visible_line(part.file_name) + "` twice"};
            }
        } else {
            file.slices.clear();
            break;
        }
    }
    const bool are_several = file.slices.size() > 1;
    std::set<std::string> names;
    for (const FileSlice& slice : file.slices) {
        const bool is_named = !slice.name.empty() && slice.name.size() <= kMaxFileName &&
                              names.insert(slice.name).second;
        if (are_several && !is_named) {
            return Error{Errc::BadSyntax,
                         "each of several parts `rules` has a file name of its own, of at most " +
                             std::to_string(kMaxFileName) + " bytes"};
        }
    }
    if (are_several && from.empty()) {
        return Error{Errc::BadSyntax, "several files want `directory`, where their names begin"};
    }
    if (file.slices.empty() || file.slices.size() > kMaxRuleFiles) {
        return Error{Errc::BadSyntax,
                     "the form's parts are `rules`, once or with a file name each (at most " +
                         std::to_string(kMaxRuleFiles) + "), and `list` with a file name each"};
    }
    if (file.slices.size() == 1) {
        file.slices.clear();
    }
    return file;
}

// The set that If-Match names; nullopt: any.
Result<std::optional<std::string>> named_by(std::string_view text) {
    if (text.empty() || text == "*") {
        return std::optional<std::string>{};
    }
    if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
        text = text.substr(1, text.size() - 2);
    }
    std::uint64_t generation = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, generation, 16);
    const std::string_view rest{end, static_cast<std::size_t>(last - end)};
    const bool is_tag = rest.size() == 17 && rest.front() == '-';
    if (error != std::errc{} || (!rest.empty() && !is_tag)) {
        return Error{Errc::BadSyntax,
                     "`If-Match` names a generation, or the ETag that GET /v1/rules has"};
    }
    return std::optional{generation_text(generation) + std::string{rest}};
}

}  // namespace

std::variant<RuleFile, HttpResponse> rule_file_of(const HttpRequest& request) {
    RuleFile file;
    const std::string directory = argument(request, "directory", "");
    if (!directory.empty() && !directory.starts_with('/')) {
        return bad_request("`directory` is an absolute path");
    }
    if (request.parts.empty()) {
        file.text = request.body;
    } else if (Result<RuleFile> form = from_form(request.parts, directory)) {
        file = *std::move(form);
    } else {
        return bad_request(form.error().what);
    }
    file.name = argument(request, "file", "rules.yaml");
    file.from = author_of(request);
    file.directory = file.slices.empty() ? directory : file.slices.front().folder;
    return file;
}

std::variant<ChangeTerms, HttpResponse> change_terms_of(const HttpRequest& request) {
    ChangeTerms terms;
    for (const auto& [name, flag] : {std::pair{"force", &terms.force}, {"strict", &terms.strict}}) {
        const std::string value = argument(request, name, "0");
        if (value != "0" && value != "1") {
            return bad_request(fmt::format("`{}` is 0 or 1", name));
        }
        *flag = value == "1";
        terms.words += *flag ? fmt::format(" --{}", name) : "";
    }
    Result<std::optional<std::string>> in_place_of = named_by(request.if_match);
    if (!in_place_of) {
        return bad_request(in_place_of.error().what);
    }
    terms.in_place_of = *std::move(in_place_of);
    if (request.query.contains("confirm")) {
        const std::string confirm = argument(request, "confirm", "");
        const Result<Nanoseconds> time = parse_confirm_time(confirm);
        if (!time) {
            return bad_request("`confirm`: " + time.error().what);
        }
        terms.confirm = *time;
        terms.words += " --confirm " + confirm;
    }
    return terms;
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
        case Refusal::Kind::NoSuchSet:
            return problem_response(404, "no such set", refusal.what);
        case Refusal::Kind::IsThere:
            return problem_response(409, "the rule is there", refusal.what);
        case Refusal::Kind::NothingToConfirm:
            return problem_response(409, "nothing to confirm", refusal.what);
        case Refusal::Kind::NothingSet:
            return problem_response(404, "nothing set", refusal.what);
        case Refusal::Kind::NothingBefore:
            return problem_response(409, "nothing to go back to", refusal.what);
        case Refusal::Kind::NoSuchTenant:
            return problem_response(404, "no such tenant", refusal.what);
        case Refusal::Kind::StillATenant:
            return problem_response(409, "a tenant of sluice.yaml", refusal.what);
        case Refusal::Kind::NoRulesYet:
            return problem_response(409, "no rules", refusal.what);
        case Refusal::Kind::NoDataplane:
            return problem_response(503, "no dataplane", refusal.what);
        case Refusal::Kind::Busy:
            return busy_response(503, "busy", refusal.what);
        case Refusal::Kind::ByDataplane:
            return problem_response(502, "refused by the dataplane", refusal.what);
        default:
            return problem_response(507, "nothing was changed", refusal.what);
    }
}

void record(Services& services, const HttpRequest& request, const std::string& call,
            const RuleChange& change) {
    write_audit(services, request,
                {.call = call,
                 .before = generation_text(change.before),
                 .after = generation_text(change.refusal ? change.before : change.after),
                 .outcome = change.refusal ? "refused: " + change.refusal->what : "done"});
}

HttpResponse changed(const RuleChange& change, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    Json document{{"generation", generation_text(change.after)},
                  {"rules", change.rules},
                  {"warnings", to_json(change.warnings)},
                  {"unconfirmed", unconfirmed_json(change.unconfirmed)},
                  {"panic", stats ? Json(stats->panic) : Json()}};
    for (const RuleAnywhere& rule : change.anywhere) {
        document["anywhere"].push_back(rule.id);
        if (!rule.services.empty()) {
            document["beyond"][rule.id] = {{"services", rule.services}, {"fields", rule.beyond}};
        }
    }
    return json_response(document);
}

Author author_of(const HttpRequest& request) {
    return {request.peer.uid, request.via_web() ? request.user : ""};
}

Json name_json(const std::string& name) {
    return name.empty() ? Json() : Json(name);
}

bool has_ended(const KeySetting& setting) {
    return setting.until != 0 && setting.until <= std::time(nullptr);
}

std::string utc_text(std::int64_t utc) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(utc)));
}

std::string utc_ns_text(std::int64_t utc_ns) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z",
                       fmt::gmtime(static_cast<std::time_t>(utc_ns / kSecond)), utc_ns % kSecond);
}

Json seconds_json(std::int64_t ns) {
    return ns == std::numeric_limits<std::int64_t>::max() ? Json()
                                                          : Json(static_cast<double>(ns) / 1e9);
}

Json setting_json(const KeySetting& setting) {
    return {{"key", setting.key},
            {"tier", setting.tier},
            {"set", text_of(setting)},
            {"until", setting.until == 0 ? Json() : Json(utc_text(setting.until))},
            {"reason", setting.reason},
            {"by", setting.set_by}};
}

Json unconfirmed_json(const std::optional<Unconfirmed>& unconfirmed) {
    if (!unconfirmed) {
        return nullptr;
    }
    const std::chrono::duration<double> left = left_until(unconfirmed->end.at, boot_time());
    return {{"seconds_left", std::round(left.count() * 10) / 10},
            {"until", utc_text(unconfirmed->end.utc)},
            {"goes_back_to", generation_text(unconfirmed->goes_back_to)}};
}

}  // namespace sluice
