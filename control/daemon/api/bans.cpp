#include "control/daemon/api/ban_rows.hpp"
#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/bans_by_end.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <vector>

// Every ban that holds now: what operators have set, what override files say, and what lies in the
// penalty boxes of the workers; in this order, each of them rule by rule.
namespace sluice {
namespace {

// Rows of files that one page looks at for its words: some milliseconds of this thread.
constexpr std::size_t kMostRowsLookedAt = 200'000;

// The beginning of a page: "SOURCE~RULE~REST", of which a rule's id has no tilde.
struct BanPlace {
    BanSource source = BanSource::Operator;
    std::string rule;  // empty: the first
    std::string rest;  // of its bans; empty: from the first on
};

std::string text_of(const BanPlace& place) {
    return fmt::format("{}~{}~{}", kBanSourceNames[static_cast<std::size_t>(place.source)],
                       place.rule, place.rest);
}

std::optional<BanPlace> read_ban_place(const std::string& text) {
    if (text.empty()) {
        return BanPlace{};
    }
    const std::size_t first = text.find('~');
    const std::size_t second = first == std::string::npos ? first : text.find('~', first + 1);
    const std::optional<BanSource> source = ban_source_named(text.substr(0, first));
    if (second == std::string::npos || !source) {
        return std::nullopt;
    }
    return BanPlace{*source, text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

// One page, as it is filled.
class BanPage {
public:
    BanPage(const RuleView& view, BanWords words, Services& services)
        : view_{view}, words_{std::move(words)}, services_{services} {
        for (const KeySetting& one : view.keys) {
            set_[one.rule].push_back(&one);
        }
    }

    // Fills the page; a refusal where something cannot be read, else nullopt.
    [[nodiscard]] std::optional<HttpResponse> fill(BanPlace place) {
        place_ = std::move(place);
        for (std::size_t source = static_cast<std::size_t>(place_.source); source < 3; ++source) {
            const auto from = static_cast<BanSource>(source);
            std::optional<HttpResponse> refusal =
                words_.wants(from) ? fill_from(from) : std::nullopt;
            if (refusal) {
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
    [[nodiscard]] bool is_full() const { return bans_.size() >= words_.page.most; }

    // Rule by rule, in the order of the file.
    std::optional<HttpResponse> fill_from(BanSource source) {
        bool begun = place_.rule.empty();
        for (const RuleSummary& rule : view_.rules) {
            begun = begun || rule.id == place_.rule;
            if (!begun || !words_.wants(rule)) {
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
        if (const auto found = set_.find(rule.id); found != set_.end()) {
            std::ranges::copy_if(
                found->second, std::back_inserter(set), [&](const KeySetting* one) {
                    return is_ban_of(*one, rule) && words_.wants(one->key, one->reason) &&
                           (rest.empty() || order_of(*one) > rest);
                });
        }
        std::sort(set.begin(), set.end(), [](const KeySetting* a, const KeySetting* b) {
            return order_of(*a) < order_of(*b);
        });
        for (const KeySetting* one : set) {
            if (is_full()) {
                next_ = {BanSource::Operator, rule.id, last_};
                return;
            }
            last_ = order_of(*one);
            bans_.push_back(set_ban_json(rule, *one));
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
        const std::size_t from = std::strtoull(rest.c_str(), nullptr, 10);
        for (std::size_t i = from; i < rule.banned->size(); ++i) {
            const BannedKey& ban = (*rule.banned)[i];
            const std::int64_t until = end_of(ban);
            if (until != 0 && until <= now) {
                continue;
            }
            if (is_full() || i - from >= kMostRowsLookedAt) {
                next_ = {BanSource::Policy, rule.id, std::to_string(i)};
                return;
            }
            const std::string key = text_of_banned(ban);
            if (words_.wants(key, reason_of(ban))) {
                bans_.push_back(policy_ban_json(rule, ban, key));
            }
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
        const std::uint32_t room = words_.page.most - static_cast<std::uint32_t>(bans_.size());
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
            if (words_.filter.empty() || (ban["key"].is_string() && words_.wants(key.text, ""))) {
                bans_.push_back(std::move(ban));
            }
        }
        if (!found.ends) {
            next_ = {BanSource::Boxes, rule.id, text_of(place_behind(found))};
        }
        return std::nullopt;
    }

    const RuleView& view_;
    BanWords words_;
    Services& services_;
    bool boxes_read_ = services_.link.status().connected;  // else the penalty boxes are not known
    std::unordered_map<std::string_view, std::vector<const KeySetting*>> set_;  // by rule
    BanPlace place_;
    Json bans_ = Json::array();
    std::string last_;
    std::optional<BanPlace> next_;
};

// The bans that a call wants; or why it is none.
std::variant<BanWords, HttpResponse> read_ban_words(const HttpRequest& request,
                                                    const RuleView& view) {
    std::optional<PageWords> page = read_page(request);
    if (!page) {
        return bad_page("`rule` the id of a rule where one alone is wanted");
    }
    BanWords words{.rule = argument(request, "rule", ""),
                   .source = std::nullopt,
                   .filter = argument(request, "filter", ""),
                   .page = *std::move(page)};
    if (!words.rule.empty() && find_rule(view.rules, words.rule) == nullptr) {
        return no_such_rule(words.rule);
    }
    if (const std::string name = argument(request, "source", ""); !name.empty()) {
        words.source = ban_source_named(name);
        if (!words.source) {
            return bad_request(fmt::format("there is no source {}; there are {}",
                                           visible_line(name), fmt::join(kBanSourceNames, ", ")));
        }
    }
    return words;
}

}  // namespace

HttpResponse get_bans(const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    std::variant<BanWords, HttpResponse> read = read_ban_words(request, *view);
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    auto& words = std::get<BanWords>(read);
    const std::string sort = argument(request, "sort", "");
    if (!sort.empty() && sort != "end") {
        return bad_request("`sort` is `end`, the soonest to end first, or left out");
    }
    if (!sort.empty()) {
        return bans_by_end(*view, words);
    }
    std::optional<BanPlace> place = read_ban_place(words.page.after);
    if (!place) {
        return bad_page("of the same `sort`");
    }
    BanPage bans{*view, std::move(words), services};
    if (std::optional<HttpResponse> refusal = bans.fill(*std::move(place))) {
        return *std::move(refusal);
    }
    return std::move(bans).response();
}

}  // namespace sluice
