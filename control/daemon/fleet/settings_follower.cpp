#include "control/daemon/fleet/settings_follower.hpp"

#include "control/daemon/api/key_words.hpp"
#include "control/daemon/api/setting_words.hpp"
#include "control/daemon/kept_file.hpp"
#include "control/json.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

constexpr const char* kSettingsFile = "/cluster_keys.json";

Author author_in(const FleetSetting& setting) {
    return {::getuid(), setting.by};
}

// True where it is to be tried again before the rules are others.
bool is_for_now(const Refusal& refusal) {
    return refusal.kind == Refusal::Kind::NoDataplane || refusal.kind == Refusal::Kind::Busy ||
           refusal.kind == Refusal::Kind::NotKept;
}

std::string words_of(const FleetSetting& one, const char* action) {
    return fmt::format("key {} {} {} --cluster: {}", action, one.setting.rule, one.setting.key,
                       text_with_reason(one.setting));
}

const char* action_of(const KeySetting& setting) {
    return setting.what == KeySetting::What::Banned ? "ban" : "set";
}

bool has_rule(const RuleView& view, const std::string& id) {
    return std::ranges::find(view.rules, id, &RuleSummary::id) != view.rules.end();
}

KeyAction key_action_named(const std::string& name) {
    const auto found = std::ranges::find(kKeyActionNames, name);
    return found == kKeyActionNames.end() ? KeyAction::Show
                                          : static_cast<KeyAction>(found - kKeyActionNames.begin());
}

}  // namespace

SettingsFollower::SettingsFollower(FleetStore store, FleetBoard& board, Box box)
    : store_{std::move(store)}, board_{board}, box_{std::move(box)} {
    load();
    tell();
}

void SettingsFollower::tick(Clock::time_point now, bool hinted) {
    if (!is_of_cluster(board_.status().membership)) {
        return;
    }
    now_ = now;
    if (hinted || now >= read_at_) {
        read_at_ = now + kRead;
        read();
        if (!error_.empty()) {
            read_at_ = now + kAgain;
        }
    }
    const std::uint64_t generation = box_.rules.view()->generation;
    if (seen_ != generation && now >= settle_at_) {
        settle_at_ = now + kAgain;
        settle();
        tell();
    }
}

void SettingsFollower::read() {
    Result<FleetSettingsView> view = read_fleet_settings(store_);
    if (!view) {
        const Errc code = view.error().code;
        const bool is_away = code == Errc::Unreachable || code == Errc::Busy;
        error_ = is_away ? "" : view.error().what;
        return tell();
    }
    const std::uint64_t number = view->settings.number;
    error_ = view->unread.empty() ? ""
                                  : fmt::format("{} settings of single keys in etcd cannot be read",
                                                view->unread.size());
    if (number < followed_.number) {
        error_ = fmt::format(
            "etcd has lost settings of single keys: its latest change is {}, this "
            "box's is {}; the next change brings them back",
            number, followed_.number);
    } else if (!is_new_ && number - followed_.number > kMostAhead) {
        error_ = fmt::format(
            "etcd's change of single keys has the number {}, which none could "
            "come to behind {}: this box does not follow it",
            number, followed_.number);
    } else if (number != followed_.number && !take(*std::move(view))) {
        error_ = "the disk takes no settings of single keys";
    } else if (number == 0) {
        is_new_ = false;  // whatever comes is for this box, too
    }
    tell();
}

// Acts of before the box has joined were not for it: its buckets are new. What etcd does not show,
// or shows as an unfinished change has it, stays as it was.
bool SettingsFollower::take(FleetSettingsView view) {
    FleetSettings& next = view.settings;
    std::vector<FleetAct> acts = std::exchange(next.acts, {});
    std::erase_if(acts, [this](const FleetAct& act) { return act.number <= followed_.number; });
    std::set<std::string> set_here;
    std::vector<FleetSetting> gone = to_unset_;
    for (const FleetSetting& one : followed_.set) {
        const bool was_set = set_here_.contains(name_of(one.setting));
        const FleetSetting* const found = find_place(next, one.setting);
        const bool is_kept = found == nullptr && view.hides(store_.keys(), one.setting);
        if (was_set && (is_kept || (found != nullptr && found->number == one.number))) {
            set_here.insert(name_of(one.setting));
        }
        if (is_kept) {
            next.set.push_back(one);
        } else if (found == nullptr) {
            gone.push_back(one);
        }
    }
    const std::shared_ptr<const RuleView> rules = box_.rules.view();
    std::erase_if(gone, [&](const FleetSetting& one) {
        return find_place(next, one.setting) != nullptr || !may_be_set(*rules, one.setting);
    });
    std::swap(to_unset_, gone);
    if (!save(next, set_here)) {
        std::swap(to_unset_, gone);
        return false;
    }
    const bool was_new = std::exchange(is_new_, false);
    followed_ = std::move(next);
    set_here_ = std::move(set_here);
    board_.set_settings(followed_);
    unset_at_ = now_;
    refused_.clear();
    settle();
    for (const FleetAct& one : was_new ? std::vector<FleetAct>{} : acts) {
        act(one);
    }
    return true;
}

// Tried until it is done: a ban that the cluster has lifted is to hold nowhere.
void SettingsFollower::unset() {
    const std::shared_ptr<const RuleView> view = box_.rules.view();
    bool is_changed = forget_unset(*view);
    std::vector<SettingChoice> choices;
    std::string called;
    for (const FleetSetting& one : to_unset_) {
        if (is_set(view->keys, one.setting)) {
            choices.push_back(choice_of(one.setting));
            called = words_of(one, choices.back().bans ? "unban" : "unset");
        }
    }
    std::string refused;
    if (!choices.empty()) {
        const RuleChange change = box_.rules.unset_keys(choices, Author{::getuid(), followed_.by});
        if (change.refusal && change.refusal->kind != Refusal::Kind::NothingSet) {
            refused = change.refusal->what;
            unset_at_ = now_ + (is_for_now(*change.refusal) ? kAgain : kUnsetAgain);
        } else {
            (void)forget_unset(*box_.rules.view());
            is_changed = true;
        }
        if (refused.empty() || refused != not_unset_) {
            box_.audit.write(
                {.name = followed_.by,
                 .call = choices.size() == 1
                             ? called
                             : fmt::format("{} keys unset --cluster", choices.size()),
                 .before = generation_text(change.before),
                 .after = generation_text(change.after),
                 .outcome = change.refusal ? "refused: " + change.refusal->what : "done"});
        }
    }
    not_unset_ = refused;
    if (is_changed) {
        (void)save(followed_, set_here_);
    }
}

// Sets what the box has the rule of and has not set yet. What is set for a rule goes with it, and
// is set again once it is back.
void SettingsFollower::settle() {
    if (!to_unset_.empty() && now_ >= unset_at_) {
        unset();
    }
    not_unset_ = to_unset_.empty() ? "" : not_unset_;
    const std::shared_ptr<const RuleView> view = box_.rules.view();
    if (tried_ != view->generation) {
        refused_.clear();
    }
    const std::int64_t now = std::time(nullptr);
    const std::set<std::string> were_set = set_here_;
    std::map<std::string, std::vector<FleetSetting>> by_author;
    for (const FleetSetting& one : followed_.set) {
        const std::string name = name_of(one.setting);
        const auto same = [&](const KeySetting& here) {
            return says_same(here, one.setting) && here.until == one.setting.until;
        };
        if (!has_rule(*view, one.setting.rule)) {
            set_here_.erase(name);
        } else if (!set_here_.contains(name) && std::ranges::any_of(view->keys, same)) {
            set_here_.insert(name);  // by people, on this box
        } else if (!set_here_.contains(name) && !refused_.contains(name) &&
                   !has_ended(one.setting, now)) {
            by_author[one.by].push_back(one);
        }
    }
    refusal_ = refused_.empty() ? "" : refusal_;
    for (const auto& [by, group] : by_author) {
        if (!set_halves(group)) {
            break;
        }
    }
    tried_ = box_.rules.view()->generation;
    seen_ = by_author.empty() && to_unset_.empty() ? view->generation : 0;
    if (set_here_ != were_set) {
        (void)save(followed_, set_here_);
    }
}

// Few changes of the rules find the one that is wrong among many.
bool SettingsFollower::set_halves(std::span<const FleetSetting> group) {
    if (!set(group)) {
        return false;
    }
    const std::string first = name_of(group.front().setting);
    if (group.size() == 1 || set_here_.contains(first)) {
        return true;
    }
    const std::size_t half = group.size() / 2;
    return set_halves(group.first(half)) && set_halves(group.subspan(half));
}

bool SettingsFollower::set(std::span<const FleetSetting> group) {
    KeySettings settings;
    std::ranges::transform(group, std::back_inserter(settings), &FleetSetting::setting);
    const RuleChange change = box_.rules.set_keys(settings, author_in(group.front()));
    if (change.refusal && is_for_now(*change.refusal)) {
        return false;
    }
    if (!change.refusal || group.size() == 1) {
        tell_set(group, change);
    }
    return true;
}

void SettingsFollower::tell_set(std::span<const FleetSetting> group, const RuleChange& change) {
    for (const FleetSetting& one : group) {
        (change.refusal ? refused_ : set_here_).insert(name_of(one.setting));
    }
    std::string why;
    if (change.refusal) {
        const auto& problems = change.refusal->problems;
        why = problems.empty() ? change.refusal->what : problems.front().message;
        refusal_ =
            fmt::format("{} {}: {}", group.front().setting.rule, group.front().setting.key, why);
        spdlog::warn("cluster {}: {}", board_.options().name, refusal_);
    }
    box_.audit.write(
        {.name = group.front().by,
         .call = group.size() == 1
                     ? words_of(group.front(), action_of(group.front().setting))
                     : fmt::format("{} keys set --cluster, first: {}", group.size(),
                                   words_of(group.front(), action_of(group.front().setting))),
         .before = generation_text(change.before),
         .after = generation_text(change.after),
         .outcome = change.refusal ? "refused: " + why : "done"});
}

void SettingsFollower::act(const FleetAct& act) {
    const std::shared_ptr<const RuleView> view = box_.rules.view();
    const KeyWords words{.rule = act.rule,
                         .key = act.key,
                         .tier = act.tier,
                         .limit = act.limit,
                         .action = key_action_named(act.action),
                         .units = act.units};
    const Found found = find_key(words, *view);
    const auto* key = std::get_if<FoundKey>(&found);
    std::string outcome = "done";
    if (key == nullptr) {
        outcome = "refused: no such key";
    } else if (act.action != "unban" && limit_of_cluster(*key) != nullptr) {
        outcome = "refused: the boxes count the limit together";
    } else if (const Result<Reply> reply = box_.link.call(key->ask); !reply) {
        outcome = "refused: " + reply.error().what;
    }
    box_.audit.write({.name = act.by,
                      .call = fmt::format("key {} {} {} --cluster", act.action, act.rule, act.key),
                      .before = "",
                      .after = "",
                      .outcome = outcome});
}

bool SettingsFollower::save(const FleetSettings& settings, const std::set<std::string>& set_here) {
    Json list = Json::array();
    for (const FleetSetting& one : settings.set) {
        list.push_back(
            {{"record", text_of(one)}, {"set", set_here.contains(name_of(one.setting))}});
    }
    Json to_unset = Json::array();
    for (const FleetSetting& one : to_unset_) {
        to_unset.push_back(text_of(one));
    }
    const Json document{{"cluster", board_.options().name},
                        {"number", settings.number},
                        {"by", settings.by},
                        {"keys", std::move(list)},
                        {"unset", std::move(to_unset)}};
    Result<PendingFile> file =
        PendingFile::write(box_.state_dir + kSettingsFile, dump_line(document));
    const Result<Done> kept = file ? file->commit() : file.error();
    if (!kept) {
        spdlog::warn("{}", kept.error().what);
    }
    return kept.has_value();
}

// A file of another cluster, or one that cannot be read, is none.
void SettingsFollower::load() {
    const std::string path = box_.state_dir + kSettingsFile;
    const Result<std::optional<std::string>> text = read_kept_file(path);
    if (!text || !*text) {
        return;
    }
    try {
        const Json document = Json::parse(**text);
        if (text_at(document, "cluster") != board_.options().name) {
            return;
        }
        FleetSettings settings{.number = count_at(document, "number"),
                               .by = text_at(document, "by")};
        for (const Json& one : document.at("keys")) {
            Result<FleetSetting> setting = fleet_setting_from(text_at(one, "record"));
            if (setting && one.at("set").get<bool>()) {
                set_here_.insert(name_of(setting->setting));
            }
            if (setting) {
                settings.set.push_back(*std::move(setting));
            }
        }
        for (const Json& one : document.value("unset", Json::array())) {
            if (Result<FleetSetting> setting = fleet_setting_from(one.get<std::string>())) {
                to_unset_.push_back(*std::move(setting));
            }
        }
        followed_ = std::move(settings);
        is_new_ = false;
    } catch (const Json::exception&) {
        spdlog::error("{}", put_aside(path, "it cannot be read").what);
    }
    board_.set_settings(followed_);
}

void SettingsFollower::tell() {
    const std::string unset =
        not_unset_.empty() ? "" : "what the cluster has lifted holds here yet: " + not_unset_;
    const std::string& of_box = unset.empty() ? refusal_ : unset;
    const std::string error = error_.empty() ? of_box : error_;
    const NodeRecord told = board_.status().record;
    if (told.settings != followed_.number || told.settings_error != error) {
        if (!error.empty() && told.settings_error != error) {
            spdlog::warn("cluster {}: {}", board_.options().name, error);
        }
        board_.change_record([&](NodeRecord& record) {
            record.settings = followed_.number;
            record.settings_error = error;
        });
    }
}

}  // namespace sluice
