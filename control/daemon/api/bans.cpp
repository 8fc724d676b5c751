#include "control/active_json.hpp"
#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/live_pages.hpp"
#include "lib/rules/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <tuple>

// Every ban that holds now: what operators have set, what override files say, and what lies in the
// penalty boxes of the workers; in this order, each of them rule by rule.
namespace sluice {
namespace {

enum class BanSource : std::uint8_t { Operator, Policy, Boxes };
constexpr std::string_view kBanSourceNames[] = {"operator", "policy", "penalty_box"};

// The beginning of a page: "SOURCE:RULE:REST", of which a rule's id has no colon.
struct BanPlace {
    BanSource source = BanSource::Operator;
    std::string rule;  // empty: the first
    std::string rest;  // of its bans; empty: from the first on
};

std::string text_of(const BanPlace& place) {
    return fmt::format("{}:{}:{}", kBanSourceNames[static_cast<std::size_t>(place.source)],
                       place.rule, place.rest);
}

std::optional<BanPlace> read_ban_place(const std::string& text) {
    if (text.empty()) {
        return BanPlace{};
    }
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
    const auto* source = std::find(std::begin(kBanSourceNames), std::end(kBanSourceNames),
                                   std::string_view{text}.substr(0, first));
    if (second == std::string::npos || source == std::end(kBanSourceNames)) {
        return std::nullopt;
    }
    return BanPlace{static_cast<BanSource>(source - std::begin(kBanSourceNames)),
                    text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

std::int64_t utc_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

// In a mode other than enforce, or while the rule is not active, it drops nothing.
Json ban_json(BanSource source, const RuleSummary& rule, const std::string& key, std::size_t tier) {
    return {{"rule", rule.id},
            {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]},
            {"inactive", inactive_json(rule, utc_now())},
            {"key", key},
            {"tier", tier},
            {"applies_to", kBanScopeNames[rule.bans_sources ? 1 : 0]},
            {"source", kBanSourceNames[static_cast<std::size_t>(source)]},
            {"left_s", nullptr},
            {"until", nullptr},
            {"reason", ""}};
}

void set_end(Json& ban, std::int64_t until) {
    ban["until"] = until == 0 ? Json() : Json(utc_text(until));
    ban["left_s"] = until == 0 ? Json() : Json(std::max<std::int64_t>(until - utc_seconds(), 0));
}

// One page, as it is filled.
class BanPage {
public:
    BanPage(const RuleView& view, std::string only, PageWords words, Services& services)
        : view_{view}, only_{std::move(only)}, words_{std::move(words)}, services_{services} {}

    // Fills the page; a refusal where something cannot be read, else nullopt.
    [[nodiscard]] std::optional<HttpResponse> fill(BanPlace place) {
        place_ = std::move(place);
        for (std::size_t source = static_cast<std::size_t>(place_.source); source < 3; ++source) {
            if (std::optional<HttpResponse> refusal = fill_from(static_cast<BanSource>(source))) {
                return refusal;
            }
            if (next_) {
                return std::nullopt;
            }
            place_ = {};
        }
        return std::nullopt;
    }
    [[nodiscard]] HttpResponse response() && {
        return json_response({{"generation", generation_text(view_.generation)},
                              {"bans", std::move(bans_)},
                              {"boxes_read", boxes_read_},
                              {"next", next_ ? Json(text_of(*next_)) : Json()}});
    }

private:
    [[nodiscard]] bool is_full() const { return bans_.size() >= words_.most; }

    // Rule by rule, in the order of the file.
    std::optional<HttpResponse> fill_from(BanSource source) {
        bool begun = place_.rule.empty();
        for (const RuleSummary& rule : view_.rules) {
            begun = begun || rule.id == place_.rule;
            if (!begun || (!only_.empty() && rule.id != only_)) {
                continue;
            }
            const std::string rest = rule.id == place_.rule ? place_.rest : "";
            std::optional<HttpResponse> refusal;
            switch (source) {
                case BanSource::Operator:
                    add_set(rule, rest);
                    break;
                case BanSource::Policy:
                    add_policy(rule, rest);
                    break;
                default:
                    refusal = add_boxes(rule, rest);
            }
            if (refusal || next_) {
                return refusal;
            }
        }
        return begun ? std::nullopt
                     : std::optional{problem_response(
                           409, "other rules run now",
                           "the rule " + place_.rule + " is gone; ask again from the beginning")};
    }

    // `rest` is "TIER:KEY" of the last one before.
    void add_set(const RuleSummary& rule, const std::string& rest) {
        std::vector<const KeySetting*> set;
        for (const KeySetting& one : view_.keys) {
            if (one.rule == rule.id && one.what == KeySetting::What::Banned && !has_ended(one) &&
                (rest.empty() || order_of(one) > rest)) {
                set.push_back(&one);
            }
        }
        std::sort(set.begin(), set.end(), [](const KeySetting* a, const KeySetting* b) {
            return order_of(*a) < order_of(*b);
        });
        for (const KeySetting* one : set) {
            if (is_full()) {
                next_ = {BanSource::Operator, rule.id, last_};
                return;
            }
            Json ban = ban_json(BanSource::Operator, rule, one->key, one->tier);
            set_end(ban, one->until);
            ban["reason"] = one->reason;
            ban["by"] = one->set_by;
            last_ = order_of(*one);
            bans_.push_back(std::move(ban));
        }
    }
    static std::string order_of(const KeySetting& one) {
        return fmt::format("{:02}:{}", one.tier, one.key);
    }

    // `rest` is the number of the first one.
    void add_policy(const RuleSummary& rule, const std::string& rest) {
        if (rule.banned == nullptr) {
            return;
        }
        const std::int64_t now = utc_seconds();
        for (std::size_t i = std::strtoull(rest.c_str(), nullptr, 10); i < rule.banned->size();
             ++i) {
            const BannedKey& key = (*rule.banned)[i];
            const std::int64_t until =
                key.until == kForever ? 0
                                      : std::chrono::ceil<std::chrono::seconds>(key.until).count();
            if (until != 0 && until <= now) {
                continue;
            }
            if (is_full()) {
                next_ = {BanSource::Policy, rule.id, std::to_string(i)};
                return;
            }
            const std::string text =
                text_of_key(std::span{key.bytes}, [](std::uint64_t) { return std::string{"?"}; });
            Json ban = ban_json(BanSource::Policy, rule, text, key.key + std::size_t{1});
            set_end(ban, until);
            ban["reason"] = reason_of(key);
            bans_.push_back(std::move(ban));
        }
    }

    // `rest` is a place in the tables.
    std::optional<HttpResponse> add_boxes(const RuleSummary& rule, const std::string& rest) {
        std::optional<TablePlace> place = read_place(rest.empty() ? "0:0" : rest);
        if (rule.ban.empty() || rule.mode == Mode::Off || !place) {
            return place ? std::nullopt : std::optional{bad_page("as it stands")};
        }
        if (is_full()) {
            next_ = {BanSource::Boxes, rule.id, text_of(*place)};
            return std::nullopt;
        }
        const std::uint32_t room = words_.most - static_cast<std::uint32_t>(bans_.size());
        if (!boxes_read_) {
            return std::nullopt;
        }
        const std::variant<KeyPage, HttpResponse> read = read_tables(
            {view_.generation, rule.id, true, place->worker, place->position, room}, services_);
        if (const auto* refusal = std::get_if<HttpResponse>(&read)) {
            boxes_read_ = services_.link.status().connected;
            return boxes_read_ ? std::optional{*refusal} : std::nullopt;
        }
        const auto& found = std::get<KeyPage>(read);
        for (const ListedKey& key : found.keys) {
            Json ban = ban_json(BanSource::Boxes, rule, key.text, key.key + std::size_t{1});
            ban["key"] = key.named && key.level == 0 ? Json(key.text) : Json();
            ban["digest"] = fmt::format("{:014x}", key.digest);
            ban["level"] = key.level;
            ban["left_s"] = seconds_of(key.left_ns);
            bans_.push_back(std::move(ban));
        }
        if (!found.ends) {
            next_ = {BanSource::Boxes, rule.id, text_of(place_behind(found))};
        }
        return std::nullopt;
    }

    const RuleView& view_;
    std::string only_;  // a rule; empty: all
    PageWords words_;
    Services& services_;
    bool boxes_read_ = services_.link.status().connected;  // else the penalty boxes are not known
    BanPlace place_;
    Json bans_ = Json::array();
    std::string last_;
    std::optional<BanPlace> next_;
};

}  // namespace

HttpResponse get_bans(const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    const std::string only = argument(request, "rule", "");
    std::optional<PageWords> page = read_page(request);
    std::optional<BanPlace> place = page ? read_ban_place(page->after) : std::nullopt;
    if (!place) {
        return bad_page("`rule` the id of a rule where one alone is wanted");
    }
    if (!only.empty() && find_rule(view->rules, only) == nullptr) {
        return no_such_rule(only);
    }
    BanPage bans{*view, only, *std::move(page), services};
    if (std::optional<HttpResponse> refusal = bans.fill(*std::move(place))) {
        return *std::move(refusal);
    }
    return std::move(bans).response();
}

}  // namespace sluice
