#include "control/daemon/api/early_drop_json.hpp"
#include "control/daemon/api/find_everybody.hpp"
#include "control/daemon/api/find_place.hpp"
#include "control/daemon/api/finding.hpp"
#include "control/daemon/api/known_by_name.hpp"
#include "control/daemon/api/list_readers.hpp"
#include "control/daemon/api/live_pages.hpp"
#include "control/daemon/api/named_in.hpp"
#include "lib/policy/keys/key_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>
#include <variant>

// All that concerns an address, a host or a key, over all rules and workers, page by page: rules
// that name it, its keys with what they have left, and bans. Keys are looked up one by one; of
// tables nothing is read but penalty boxes, some entries at a time.
namespace sluice {
namespace {

constexpr int kMostQuestions = 64;   // to the dataplane, for one page
constexpr int kCostOfTableRead = 8;  // questions: read_tables() asks so often
constexpr std::chrono::seconds kMostTime{1};
constexpr std::uint32_t kMostOfTop = 1'000;  // keys of a rule that are known as its most frequent

HttpResponse other_rules() {
    return problem_response(409, "other rules run now",
                            "the rules have changed; ask again from the beginning");
}

// One page, as it is filled. Its functions end with a refusal, or with nullopt and `next_` where
// the page ends.
class FindPage {
public:
    using Refused = std::optional<HttpResponse>;

    // A question for `most` findings about what is sought, with what lists name where `lists_read`.
    struct Question {
        Sought sought;
        std::uint32_t most = 0;
        bool lists_read = false;
    };

    FindPage(const RuleView& view, Question question, Services& services)
        : view_{view},
          sought_{std::move(question.sought)},
          most_{question.most},
          services_{services},
          lists_read_{question.lists_read} {}

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
        Json answer{{"of", sought_.text},
                    {"is", kSoughtNames[static_cast<std::size_t>(sought_.kind)]},
                    {"inside", sought_.inside.empty() ? Json() : Json(sought_.inside)},
                    {"generation", generation_text(view_.generation)},
                    {"boxes_read", boxes_read_},
                    {"lists_read", lists_read_},
                    {"findings", std::move(findings_)}};
        if (is_first) {
            const auto named_of = [this](const RuleSummary& rule) -> const Json& {
                return named(rule);
            };
            const bool is_cut =
                add_everybody(answer, view_.rules, sought_, {lists_read_, named_of});
            cut_ = cut_ || is_cut;
            answer["services"] = services_named(view_.services, sought_, lists_);
            answer["early_drop"] = early_drop_json(sought_, {most_, lists_read_}, view_, services_);
        }
        answer["cut"] = cut_;
        answer["next"] = next_ ? Json(*next_) : Json();
        return json_response(answer);
    }

private:
    [[nodiscard]] bool is_full() const {
        return findings_.size() >= most_ || questions_ >= kMostQuestions ||
               (has_any_ && std::chrono::steady_clock::now() - begun_ > kMostTime);
    }
    void end_at(const RuleSummary& rule, char part, const std::string& rest) {
        next_ = fmt::format("{}:{}~{}:{}", generation_text(view_.generation), rule.id, part, rest);
    }
    // True if packets that have what is sought as a part of such a key can match the rule.
    [[nodiscard]] bool may_count(const RuleSummary& rule, const GroupingKey& key) const {
        return rule.mode != Mode::Off &&
               (rule.when.empty() || std::ranges::any_of(key, [&](const KeyPart& part) {
                    return truth_of(rule.condition, part.name(rule.text_names), sought_) !=
                           Truth::No;
                }));
    }
    [[nodiscard]] const Json& named(const RuleSummary& rule) {
        const auto [at, is_new] = named_.try_emplace(&rule);
        if (is_new) {
            at->second = named_in(rule, sought_, lists_);
        }
        return at->second;
    }
    Refused add_rule(const RuleSummary& rule, const FindPlace& from) {
        if (is_full()) {
            end_at(rule, 'w', "0");
            return std::nullopt;
        }
        KnownByName known{rule, view_, settings_, sought_};
        Refused refused = add_parts(rule, known, from);
        cut_ = cut_ || known.is_cut();
        return refused;
    }
    Refused add_parts(const RuleSummary& rule, KnownByName& known, const FindPlace& from) {
        if (from.part == 'w') {
            add_words(rule, known, std::strtoull(from.rest.c_str(), nullptr, 10));
            if (next_) {
                return std::nullopt;
            }
        }
        const bool is_open = std::ranges::any_of(
            rule.keys, [&](const GroupingKey& key) { return leaves_open(key, sought_); });
        if (is_open && boxes_read_ && rule.mode != Mode::Off) {
            if (Refused refused = add_frequent(rule, known)) {
                return refused;
            }
        }
        if (from.part != 'b') {
            Refused refused = add_keys(rule, known, from.part == 'k' ? from.rest : "");
            if (refused || next_) {
                return refused;
            }
        }
        if (!is_open || rule.ban.empty() || rule.mode == Mode::Off) {
            return std::nullopt;
        }
        return add_boxed(rule, known, from.part == 'b' ? from.rest : "0:0");
    }

    // Goes on from a position.
    void add_words(const RuleSummary& rule, KnownByName& known, std::size_t from) {
        Json words = words_of(rule, known);
        for (std::size_t i = from; i < words.size(); ++i) {
            if (is_full()) {
                end_at(rule, 'w', std::to_string(i));
                return;
            }
            findings_.push_back(std::move(words[i]));
            has_any_ = true;
        }
        has_any_ = true;
    }
    // Findings that nobody is asked about. Bans can end meanwhile, and are the last.
    [[nodiscard]] Json words_of(const RuleSummary& rule, KnownByName& known) {
        Json words = Json::array();
        for (const Json& naming : named(rule)) {
            Json finding = finding_of(rule, "condition");
            finding.update(naming);
            finding["action"] = rule.action;
            words.push_back(std::move(finding));
        }
        for (std::size_t i = 0; i < rule.keys.size(); ++i) {
            if (leaves_open(rule.keys[i], sought_) && may_count(rule, rule.keys[i])) {
                words.push_back(
                    counting_of(rule, i + 1, Json(), shape_of(rule.keys[i], rule.text_names)));
            }
        }
        for (const Json& row : known.override_ranges()) {
            Json finding = finding_of(rule, "override");
            finding.update(row);
            words.push_back(std::move(finding));
        }
        for (const Json& ban : known.network_bans()) {
            Json finding = finding_of(rule, "ban");
            finding.update(ban);
            words.push_back(std::move(finding));
        }
        return words;
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
            has_any_ = true;
            Result<KeyState> asked = ask_for<KeyState>(services_.link, known.key.ask);
            if (Refused refused = asked ? std::nullopt : unanswered(asked.error())) {
                return refused;
            }
            state = asked ? *std::move(asked) : KeyState{};
        }
        Json key = key_state_json(known.key, state, view_);
        if (is_live(key)) {
            Json finding = finding_of(rule, "key");
            finding.update(key);
            findings_.push_back(std::move(finding));
        } else if (known.exact && may_count(rule, rule.keys[known.key.ask.key])) {
            findings_.push_back(
                counting_of(rule, known.key.ask.key + std::size_t{1}, known.key.text,
                            shape_of(rule.keys[known.key.ask.key], rule.text_names)));
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
            const std::variant<KeyPage, HttpResponse> read = read_boxes(rule, known, *place);
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
    // Some entries of the penalty boxes, of which no more concern what is sought than the page has
    // room for: where there are more, they are read once more, up to those.
    std::variant<KeyPage, HttpResponse> read_boxes(const RuleSummary& rule,
                                                   const KnownByName& known,
                                                   const TablePlace& place) {
        const std::uint32_t room = room_left();
        std::uint32_t most = kMostListedKeys;
        for (;;) {
            questions_ += kCostOfTableRead;
            std::variant<KeyPage, HttpResponse> read = read_tables(
                {view_.generation, rule.id, true, place.worker, place.position, most}, services_);
            has_any_ = true;
            const auto* page = std::get_if<KeyPage>(&read);
            const std::uint32_t fitting = page == nullptr ? 0 : fitting_in(room, *page, known);
            if (page == nullptr || fitting == page->keys.size() || most == room) {
                return read;
            }
            most = most == kMostListedKeys ? fitting : room;
        }
    }
    // For keys behind two reads of the tables; at least one, so that the page gets on.
    [[nodiscard]] std::uint32_t room_left() const {
        const std::size_t findings = most_ - std::min<std::size_t>(most_, findings_.size());
        const auto questions = static_cast<std::size_t>(
            std::max(1, kMostQuestions - questions_ - 2 * kCostOfTableRead));
        return static_cast<std::uint32_t>(std::clamp<std::size_t>(findings, 1, questions));
    }
    // The number of keys of the tables before the first for which there is no room.
    [[nodiscard]] static std::uint32_t fitting_in(std::uint32_t room, const KeyPage& page,
                                                  const KnownByName& known) {
        std::uint32_t fitting = 0;
        for (const ListedKey& one : page.keys) {
            if (is_whole(one) && known.concerns(one.text, one.key + std::size_t{1}) &&
                room-- == 0) {
                break;
            }
            ++fitting;
        }
        return fitting;
    }
    [[nodiscard]] static bool is_whole(const ListedKey& key) { return key.named && key.level == 0; }
    Refused add_named(const RuleSummary& rule, KnownByName& known, const KeyPage& page) {
        for (const ListedKey& one : page.keys) {
            const std::size_t before = known.keys().size();
            const KnownByName::Known* key =
                is_whole(one) ? known.add_boxed(one.text, one.key + std::size_t{1}) : nullptr;
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
    bool has_any_ = false;  // a page gets on by something, however long that takes
    bool boxes_read_ = services_.link.status().connected;  // else buckets and boxes are not known
    bool lists_read_ = false;  // else nothing is told of what lists name
    bool cut_ = false;         // some of it found no room, or no time
    ListedEntries lists_{view_, lists_read_};
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
    FindPage page{*view,
                  {.sought = *std::move(sought),
                   .most = words->most,
                   .lists_read = may_read_lists(request, *view)},
                  services};
    if (FindPage::Refused refused = page.fill(*from)) {
        return *std::move(refused);
    }
    return std::move(page).response(is_first);
}

}  // namespace sluice
