#include "control/explain/account_text.hpp"

#include "control/explain/doubt_text.hpp"
#include "control/service_json.hpp"
#include "control/time_text.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/policy/services/stance_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sluice {
namespace {

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

// "answer\n  replied (requests of HTTP answered ...)\n    HTTP/1.1 429 ...\n"
std::string answer_text(const AnswerAccount& answer) {
    std::string text = "answer\n  ";
    text += answer.event.empty() ? "none" : fmt::format("{} ({})", answer.event, answer.help);
    text += answer.every == 1 ? "\n" : fmt::format(", of every {} of them one\n", answer.every);
    for (std::size_t at = 0; at < answer.head.size();) {
        const std::size_t end = answer.head.find('\n', at);
        text += "    " + answer.head.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return text;
}

// Each header stands by its name in small letters.
Json answer_json(const AnswerAccount& answer) {
    Json json{{"event", answer.event}, {"every", answer.every}};
    if (answer.head.empty()) {
        return json;
    }
    const std::size_t first = answer.head.find('\n');
    json["status_line"] = answer.head.substr(0, first);
    json["headers"] = Json::object();
    for (std::size_t at = first + 1; at < answer.head.size();) {
        const std::size_t end = answer.head.find('\n', at);
        const std::string line = answer.head.substr(at, end - at);
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos) {
            json["headers"][lower_case(line.substr(0, colon))] = line.substr(colon + 2);
        }
        at = end + 1;
    }
    json["body_bytes"] = answer.body_bytes;
    return json;
}

constexpr auto kPartNames =
    std::to_array<std::string_view>({"off", "inactive", "no_match", "skipped", "on_sight",
                                     "metered", "unseen", "of_banned_source"});
constexpr auto kPartTexts = std::to_array<std::string_view>(
    {"is off", "is not active at this time", "does not match",
     "matches, but a part of its key is missing", "matches and decides on sight", "matches",
     "matches, but its service refuses the packet before any rule",
     "matches, but the packet's source is banned before any rule"});

std::string wait_text(const std::optional<Nanoseconds>& wait) {
    if (!wait || *wait == kNever) {
        return "never fits";
    }
    if (*wait == Nanoseconds{0}) {
        return "fits";
    }
    return "fits in " + time_text(wait->count());
}

std::string view_text(const std::optional<BucketView>& view) {
    if (!view) {
        return "no room for a new bucket";
    }
    return fmt::format("{} left{}", view->remaining.count(), view->fresh ? " (new)" : "");
}

std::string asked_text(const LimitAccount& limit) {
    if (limit.status != KeyStatus::Limited) {
        return limit.status == KeyStatus::Exempt ? "the key is exempt" : "the key is banned";
    }
    if (limit.missing_key) {
        return "a part of its key is missing";
    }
    if (limit.cost == Units{0}) {
        return "the packet carries nothing that it counts";
    }
    return fmt::format("before: {}, {} {}; after: {}", view_text(limit.before), limit.cost.count(),
                       wait_text(limit.before ? limit.before->wait : std::nullopt),
                       view_text(limit.after));
}

void add_limit(std::string& text, const LimitAccount& limit) {
    text +=
        fmt::format("      {}: {}, {}{}\n", limit.name, limit.text, limit.scope, limit.scope_note);
    if (!limit.key.empty()) {
        const bool by_range = !limit.range.empty();
        text += "        key " + limit.key +
                (by_range           ? ", which goes by " + limit.range
                 : limit.overridden ? ", which has numbers of its own"
                                    : "") +
                "\n";
    }
    text += "        " + asked_text(limit) + "\n";
}

std::string ban_text(Nanoseconds left) {
    return left == kNever ? "banned for good" : "banned for another " + time_text(left.count());
}

std::string box_text(const std::optional<BucketView>& view) {
    if (!view) {
        return "no room";
    }
    if (view->wait != Nanoseconds{0}) {
        return ban_text(view->wait.value_or(kNever));
    }
    const std::uint64_t left = view->remaining.count();
    return fmt::format("{} refusal{} left", left, left == 1 ? "" : "s");
}

void add_bans(std::string& text, const RuleAccount& rule) {
    if (rule.bans.empty()) {
        return;
    }
    text += "      ban: " + rule.ban + "\n";
    for (const BanAccount& ban : rule.bans) {
        text += ban.key.empty() ? "" : "        key " + ban.key + "\n";
        text += fmt::format("        before: {}; after: {}\n", box_text(ban.before),
                            box_text(ban.after));
    }
}

void add_rule(std::string& text, const RuleAccount& rule) {
    text += fmt::format("  {} ({}) {}", rule.id, kModeNames[static_cast<std::size_t>(rule.mode)],
                        kPartTexts[static_cast<std::size_t>(rule.part)]);
    text += rule.reading == 0 ? "" : ", as another server reads the request";
    text += rule.because.empty() ? "\n" : ": " + rule.because + "\n";
    text += rule.active.empty() ? "" : "      active " + rule.active + "\n";
    if (const std::string stance = text_of(rule.stance); !stance.empty()) {
        text += "      reads layer 7 of " + stance + "\n";
    }
    for (const LimitAccount& limit : rule.limits) {
        add_limit(text, limit);
    }
    add_bans(text, rule);
    if (rule.part == RuleAccount::Part::Metered) {
        text += rule.events.empty() ? "" : "      events: " + rule.events + "\n";
        text += rule.dynamic.empty() ? "" : "      set through the API: " + rule.dynamic + "\n";
    }
}

std::string verdict_text(const PacketAccount& account, std::string_view rule) {
    const Decision& decision = account.decision;
    std::string text =
        fmt::format("{} ({})", name_of(decision.verdict), row_of(decision.reason).help);
    if (!rule.empty()) {
        text += fmt::format(", by {}", rule);
    }
    if (!account.banned_source.empty()) {
        text += fmt::format(", key {}, {}", account.banned_source, ban_text(decision.wait));
    } else if (!forwards(decision.verdict) && decision.wait != Nanoseconds{0}) {
        text += ", " + wait_text(decision.wait);
    }
    if (decision.verdict == Verdict::Shape && decision.wait != kNever) {
        text += ", departs in " + time_text(decision.wait.count());
    }
    return text;
}

// Decision::rule counts rules that are not off.
std::string_view deciding_rule(const PacketAccount& account) {
    std::uint32_t left = account.decision.rule;
    for (const RuleAccount& rule : account.rules) {
        if (rule.part != RuleAccount::Part::Off && left-- == 0) {
            return rule.id;
        }
    }
    return {};
}

template <typename Take>
void for_each_field(const PacketAccount& account, std::string_view pair, Take take) {
    for (const FieldRow& row : kFields) {
        if (!account.headers.fields.has(row.field)) {
            continue;
        }
        if (row.field == Field::ClientIp && !account.client.empty()) {
            take(row.name, account.client);
        } else if (!is_client(row.field)) {
            take(row.name, field_text(row.field, account.headers, account.frame, pair));
        }
    }
    for (const auto& [name, text] : account.texts) {
        take(name, text);
    }
}

void add_readings(std::string& text, const PacketAccount& account) {
    if (!account.is_ambiguous) {
        return;
    }
    text += fmt::format(
        "  {:<14} servers read this request differently; the above is how it is "
        "read here{}\n",
        "ambiguous",
        std::ranges::all_of(account.other_readings, &NamedTexts::empty) ? "" : ", and also:");
    for (const NamedTexts& reading : account.other_readings) {
        for (const auto& [name, value] : reading) {
            text += fmt::format("    {:<14} {}\n", name, value.empty() ? "(none)" : value);
        }
    }
}

Json readings_json(const PacketAccount& account) {
    Json readings = Json::array();
    for (const NamedTexts& reading : account.other_readings) {
        Json& texts = readings.emplace_back(Json::object());
        for (const auto& [name, value] : reading) {
            texts[name] = value.empty() ? Json() : Json(value);
        }
    }
    return readings;
}

Json view_json(const std::optional<BucketView>& view) {
    if (!view) {
        return nullptr;
    }
    Json json{{"remaining", view->remaining.count()}, {"new", view->fresh}};
    json["wait_ns"] = view->wait ? Json(view->wait->count()) : Json("never");
    return json;
}

Json box_json(const std::optional<BucketView>& view) {
    if (!view) {
        return nullptr;
    }
    return {{"refusals_left", view->remaining.count()},
            {"banned_ns", view->wait.value_or(kNever).count()}};
}

Json bans_json(const RuleAccount& rule) {
    Json keys = Json::array();
    for (const BanAccount& ban : rule.bans) {
        keys.push_back(
            {{"key", ban.key}, {"before", box_json(ban.before)}, {"after", box_json(ban.after)}});
    }
    return {{"text", rule.ban}, {"keys", std::move(keys)}};
}

Json rule_json(const RuleAccount& rule) {
    Json json{{"id", rule.id},
              {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]},
              {"outcome", kPartNames[static_cast<std::size_t>(rule.part)]},
              {"because", rule.because},
              {"limits", Json::array()}};
    if (!rule.active.empty()) {
        json["active"] = rule.active;
    }
    if (rule.reading != 0) {
        json["other_reading"] = rule.reading;
    }
    for (const LimitAccount& limit : rule.limits) {
        json["limits"].push_back({{"name", limit.name},
                                  {"text", limit.text},
                                  {"scope", limit.scope},
                                  {"key", limit.key},
                                  {"cost", limit.cost.count()},
                                  {"admitted", limit.admitted},
                                  {"before", view_json(limit.before)},
                                  {"after", view_json(limit.after)}});
        if (limit.overridden) {
            json["limits"].back()["overridden"] = true;
        }
        if (!limit.range.empty()) {
            json["limits"].back()["by"] = limit.range;
        }
        if (limit.status != KeyStatus::Limited) {
            json["limits"].back()["fate"] = limit.status == KeyStatus::Exempt ? "exempt" : "banned";
        }
    }
    if (!rule.bans.empty()) {
        json["ban"] = bans_json(rule);
    }
    if (!rule.events.empty()) {
        json["events"] = rule.events;
    }
    if (rule.stance.kind != Stance::Kind::None) {
        json["stance"] = stance_json(rule.stance);
    }
    if (!rule.dynamic.empty()) {
        json["dynamic"] = rule.dynamic;
    }
    return json;
}

}  // namespace

std::string account_text(const PacketAccount& account, std::string_view pair) {
    std::string text;
    for_each_field(account, pair, [&](std::string_view name, const std::string& value) {
        text += fmt::format("  {:<14} {}\n", name, value);
    });
    add_readings(text, account);
    text += doubt_text(account.doubts);
    text += units_text(account.units);
    text += account.service ? service_text(*account.service) : "";
    text += "rules\n";
    for (const RuleAccount& rule : account.rules) {
        add_rule(text, rule);
    }
    text += "verdict\n  " + verdict_text(account, deciding_rule(account)) + "\n";
    return account.answer ? text + answer_text(*account.answer) : text;
}

Json account_json(const PacketAccount& account, std::string_view pair) {
    Json json{{"frame", account.number}, {"fields", Json::object()}, {"rules", Json::array()}};
    for_each_field(account, pair, [&](std::string_view name, const std::string& value) {
        json["fields"][std::string{name}] = value;
    });
    if (account.is_ambiguous) {
        json["ambiguous"] = true;
        json["other_readings"] = readings_json(account);
    }
    if (account.doubts.any()) {
        json["doubts"] = doubt_json(account.doubts);
    }
    if (!account.units.empty()) {
        json["units"] = units_json(account.units);
    }
    if (account.service) {
        json["service"] = service_json(*account.service);
    }
    for (const RuleAccount& rule : account.rules) {
        json["rules"].push_back(rule_json(rule));
    }
    const Decision& decision = account.decision;
    json["verdict"] = name_of(decision.verdict);
    json["reason"] = row_of(decision.reason).name;
    json["rule"] = deciding_rule(account);
    json["wait_ns"] = decision.wait == kNever ? Json("never") : Json(decision.wait.count());
    if (!account.banned_source.empty()) {
        json["banned_source"] = account.banned_source;
    }
    if (account.answer) {
        json["answer"] = answer_json(*account.answer);
    }
    return json;
}

}  // namespace sluice
