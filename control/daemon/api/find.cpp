#include "control/daemon/api/known_by_name.hpp"
#include "control/daemon/api/live_pages.hpp"
#include "control/daemon/api/named_in.hpp"
#include "lib/policy/keys/key_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

// All that concerns an address, a host or a key, over all rules and workers, page by page: rules
// that name it, its keys with what they have left, and bans. Keys are looked up one by one; of
// tables nothing is read but penalty boxes, some entries at a time.
namespace sluice {
namespace {

constexpr int kMostQuestions = 64;   // to the dataplane, for one page
constexpr int kCostOfTableRead = 8;  // questions: read_tables() asks so often
constexpr std::chrono::seconds kMostTime{1};
constexpr std::uint32_t kMostOfTop = 1'000;  // keys of a rule that are known as its most frequent

// The beginning of a page: "GENERATION:RULE:k:TIER:KEY", behind that key, or
// "GENERATION:RULE:b:WORKER:POSITION" of penalty boxes. A rule's id has no colon.
struct FindPlace {
    std::string generation;
    std::string rule;
    char part = 'k';
    std::string rest;
};

std::string take_word(std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::string word = text.substr(0, colon);
    text.erase(0, colon + 1);
    return word;
}

std::optional<FindPlace> read_find_place(std::string text) {
    FindPlace place;
    if (text.empty()) {
        return place;
    }
    place.generation = take_word(text);
    place.rule = take_word(text);
    const std::string part = take_word(text);
    place.rest = std::move(text);
    if (place.rule.empty() || (part != "k" && part != "b")) {
        return std::nullopt;
    }
    place.part = part.front();
    return place;
}

HttpResponse other_rules() {
    return problem_response(409, "other rules run now",
                            "the rules have changed; ask again from the beginning");
}

Json head_of(const RuleSummary& rule, std::string_view what) {
    return {{"what", what},
            {"rule", rule.id},
            {"kind", kRuleKindNames[static_cast<std::size_t>(rule.kind)]},
            {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]}};
}

bool has_something(const Json& bucket) {
    return bucket.at("bucket").get<bool>() || bucket.at("carried").get<bool>() ||
           bucket.at("step") != 0 || bucket.at("overridden").get<bool>() ||
           bucket.at("given_wider") != 0;
}

// True if anything is known of a key: else a rule would merely count it.
bool is_live(const Json& key) {
    if (key.at("banned").get<bool>() || key.at("exempt").get<bool>() || !key.at("set").empty() ||
        key.contains("file_ban") || key.contains("networks")) {
        return true;
    }
    for (const Json& limit : key.at("limits")) {
        if (std::ranges::any_of(limit.at("workers"), has_something)) {
            return true;
        }
    }
    const auto ban = key.find("ban");
    return ban != key.end() && std::ranges::any_of(ban->at("workers"), [](const Json& worker) {
               return worker.at("refusals") != 0 || worker.at("left_ns") != 0;
           });
}

// One page, as it is filled. Its functions end with a refusal, or with nullopt and `next_` where
// the page ends.
class FindPage {
public:
    using Refused = std::optional<HttpResponse>;

    FindPage(const RuleView& view, Sought sought, std::uint32_t most, Services& services)
        : view_{view}, sought_{std::move(sought)}, most_{most}, services_{services} {}

    [[nodiscard]] Refused fill(const FindPlace& from) {
        bool begun = from.rule.empty();
        for (const RuleSummary& rule : view_.rules) {
            const bool is_first = rule.id == from.rule;
            begun = begun || is_first;
            if (!begun) {
                continue;
            }
            const Refused refused = add_rule(rule, is_first ? from : FindPlace{});
            if (refused || next_) {
                return refused;
            }
        }
        return begun ? std::nullopt : std::optional{other_rules()};
    }
    [[nodiscard]] HttpResponse response(bool is_first) && {
        Json json{{"of", sought_.text},
                  {"is", kSoughtNames[static_cast<std::size_t>(sought_.kind)]},
                  {"inside", sought_.inside.empty() ? Json() : Json(sought_.inside)},
                  {"generation", generation_text(view_.generation)},
                  {"boxes_read", boxes_read_},
                  {"findings", std::move(findings_)}};
        if (is_first) {
            json["everybody"] = everybody();
        }
        json["next"] = next_ ? Json(*next_) : Json();
        return json_response(json);
    }

private:
    [[nodiscard]] bool is_full() const {
        return findings_.size() >= most_ || questions_ >= kMostQuestions ||
               (asked_any_ && std::chrono::steady_clock::now() - begun_ > kMostTime);
    }
    void end_at(const RuleSummary& rule, char part, const std::string& rest) {
        next_ = fmt::format("{}:{}:{}:{}", generation_text(view_.generation), rule.id, part, rest);
    }
    [[nodiscard]] static bool counts(const GroupingKey& key, const Sought& sought) {
        return leaves_open(key, sought) ||
               (key.size() == 1 && key.front().is_address() && sought.has_network()) ||
               (key.size() == 1 && key.front().text && sought.kind == Sought::Kind::Host &&
                row_of(*key.front().text).kind == TextKind::Folded);
    }
    // True if packets that have what is sought as a part of such a key can match the rule.
    [[nodiscard]] bool may_count(const RuleSummary& rule, const GroupingKey& key) const {
        return rule.mode != Mode::Off &&
               (rule.when.empty() || std::ranges::any_of(key, [&](const KeyPart& part) {
                    return truth_of(rule.condition, part.name(rule.text_names), sought_) !=
                           Truth::No;
                }));
    }
    // Lists are read once for a page.
    [[nodiscard]] const Json& named(const RuleSummary& rule) {
        const auto [at, is_new] = named_.try_emplace(&rule);
        if (is_new) {
            at->second = named_in(rule, view_, sought_);
        }
        return at->second;
    }
    // Rules that judge its packets as those of all others: none of their keys is it, and no
    // condition names it.
    [[nodiscard]] Json everybody() {
        Json rules = Json::array();
        if (sought_.kind == Sought::Kind::Key) {
            return rules;
        }
        for (const RuleSummary& rule : view_.rules) {
            const bool is_own = std::ranges::any_of(
                rule.keys, [&](const GroupingKey& key) { return counts(key, sought_); });
            if (!is_own && rule.mode != Mode::Off && may_match(rule, sought_) &&
                named(rule).empty()) {
                rules.push_back(rule.id);
            }
        }
        return rules;
    }

    Refused add_rule(const RuleSummary& rule, const FindPlace& from) {
        if (is_full()) {
            end_at(rule, 'k', "");
            return std::nullopt;
        }
        KnownByName known{rule, view_, settings_, sought_};
        if (from.rest.empty()) {
            add_words(rule, known);
        }
        const bool is_open = std::ranges::any_of(
            rule.keys, [&](const GroupingKey& key) { return leaves_open(key, sought_); });
        if (is_open && boxes_read_ && rule.mode != Mode::Off) {
            if (Refused refused = add_frequent(rule, known)) {
                return refused;
            }
        }
        if (from.part == 'k') {
            Refused refused = add_keys(rule, known, from.rest);
            if (refused || next_) {
                return refused;
            }
        }
        if (!is_open || rule.ban.empty() || rule.mode == Mode::Off) {
            return std::nullopt;
        }
        return add_boxed(rule, known, from.part == 'b' ? from.rest : "0:0");
    }

    // Findings that nobody is asked about.
    void add_words(const RuleSummary& rule, const KnownByName& known) {
        for (const Json& naming : named(rule)) {
            Json finding = head_of(rule, "condition");
            finding.update(naming);
            finding["action"] = rule.action;
            findings_.push_back(std::move(finding));
        }
        for (const Json& ban : known.network_bans()) {
            Json finding = head_of(rule, "ban");
            finding.update(ban);
            findings_.push_back(std::move(finding));
        }
        for (std::size_t i = 0; i < rule.keys.size(); ++i) {
            if (leaves_open(rule.keys[i], sought_) && may_count(rule, rule.keys[i])) {
                add_counting(rule, i + 1, Json(), shape_of(rule.keys[i], rule.text_names));
            }
        }
    }
    // A rule that counts it under a key of which nothing is known yet, or under keys of this form
    // of which some may have no name.
    void add_counting(const RuleSummary& rule, std::size_t tier, Json key, std::string form) {
        Json finding = head_of(rule, "counts");
        finding["tier"] = tier;
        finding["key"] = std::move(key);
        finding["form"] = std::move(form);
        findings_.push_back(std::move(finding));
    }

    // Keys that the rule counts the most packets for.
    Refused add_frequent(const RuleSummary& rule, KnownByName& known) {
        ++questions_;
        const Result<Top> top = ask_for<Top>(
            services_.link, GetTop{rule.id, TopOrder::Hits, TopWindow::Minute, kMostOfTop});
        if (!top) {
            return unanswered(top.error());
        }
        for (const TopKey& one : top->keys) {
            (void)known.add(one.key);
        }
        return std::nullopt;
    }
    // `rest` is "TIER:KEY" of the last one before.
    Refused add_keys(const RuleSummary& rule, const KnownByName& known, std::string rest) {
        const std::size_t tier = std::strtoull(take_word(rest).c_str(), nullptr, 10);
        const auto first = known.keys().upper_bound({tier, rest});
        std::string last = fmt::format("{}:{}", tier, rest);
        for (auto at = tier == 0 ? known.keys().begin() : first; at != known.keys().end(); ++at) {
            if (is_full()) {
                end_at(rule, 'k', last);
                return std::nullopt;
            }
            if (Refused refused = add_key(rule, at->second)) {
                return refused;
            }
            last = fmt::format("{}:{}", at->first.first, at->first.second);
        }
        return std::nullopt;
    }
    Refused add_key(const RuleSummary& rule, const KnownByName::Known& known) {
        KeyState state;
        if (boxes_read_ && rule.mode != Mode::Off) {
            ++questions_;
            asked_any_ = true;
            Result<KeyState> asked = ask_for<KeyState>(services_.link, known.key.ask);
            if (Refused refused = asked ? std::nullopt : unanswered(asked.error())) {
                return refused;
            }
            state = asked ? *std::move(asked) : KeyState{};
        }
        Json key = key_state_json(known.key, state, view_);
        if (is_live(key)) {
            Json finding = head_of(rule, "key");
            finding.update(key);
            findings_.push_back(std::move(finding));
        } else if (known.exact && may_count(rule, rule.keys[known.key.ask.key])) {
            add_counting(rule, known.key.ask.key + std::size_t{1}, known.key.text,
                         shape_of(rule.keys[known.key.ask.key], rule.text_names));
        }
        return std::nullopt;
    }

    // Keys in the rule's penalty boxes that have a name, from a place in the tables on.
    Refused add_boxed(const RuleSummary& rule, KnownByName& known, const std::string& from) {
        std::optional<TablePlace> place = read_place(from);
        if (!place) {
            return bad_page("`of` what is to be found");
        }
        for (bool ends = false; !ends && boxes_read_;) {
            if (is_full()) {
                end_at(rule, 'b', text_of(*place));
                return std::nullopt;
            }
            questions_ += kCostOfTableRead;
            const std::variant<KeyPage, HttpResponse> read = read_tables(
                {view_.generation, rule.id, true, place->worker, place->position, kMostListedKeys},
                services_);
            if (const auto* refusal = std::get_if<HttpResponse>(&read)) {
                boxes_read_ = services_.link.status().connected;
                return boxes_read_ ? std::optional{*refusal} : std::nullopt;
            }
            const auto& page = std::get<KeyPage>(read);
            if (Refused refused = add_named(rule, known, page)) {
                return refused;
            }
            ends = page.ends;
            place = place_behind(page);
        }
        return std::nullopt;
    }
    Refused add_named(const RuleSummary& rule, KnownByName& known, const KeyPage& page) {
        for (const ListedKey& one : page.keys) {
            const std::size_t before = known.keys().size();
            const KnownByName::Known* key = one.named && one.level == 0
                                                ? known.add(one.text, one.key + std::size_t{1})
                                                : nullptr;
            const bool is_new = known.keys().size() != before;
            if (Refused refused = is_new && key != nullptr ? add_key(rule, *key) : std::nullopt) {
                return refused;
            }
        }
        return std::nullopt;
    }

    // The dataplane has gone: what sluiced knows is told without it.
    Refused unanswered(const Error& error) {
        if (error.code == Errc::Refused) {
            return other_rules();
        }
        boxes_read_ = error.code != Errc::Unreachable;
        return boxes_read_ ? std::optional{no_dataplane(error)} : std::nullopt;
    }

    const RuleView& view_;
    Sought sought_;
    std::uint32_t most_;
    Services& services_;
    SettingsByRule settings_ = settings_by_rule(view_);
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    int questions_ = 0;
    bool asked_any_ = false;  // a page has one key at least, however long that takes
    bool boxes_read_ = services_.link.status().connected;  // else buckets and boxes are not known
    std::map<const RuleSummary*, Json> named_;
    Json findings_ = Json::array();
    std::optional<std::string> next_;
};

}  // namespace

HttpResponse get_find(const HttpRequest& request, Services& services) {
    Result<Sought> sought = read_sought(argument(request, "of", ""));
    if (!sought) {
        return problem_response(422, "nothing to find", sought.error().what);
    }
    const std::optional<PageWords> words = read_page(request);
    const std::optional<FindPlace> from = words ? read_find_place(words->after) : std::nullopt;
    if (!from) {
        return bad_page("`of` what is to be found");
    }
    const std::shared_ptr<const RuleView> view = services.rules.view();
    const bool is_first = words->after.empty();
    if (!is_first && from->generation != generation_text(view->generation)) {
        return other_rules();
    }
    FindPage page{*view, *std::move(sought), words->most, services};
    if (FindPage::Refused refused = page.fill(*from)) {
        return *std::move(refused);
    }
    return std::move(page).response(is_first);
}

}  // namespace sluice
