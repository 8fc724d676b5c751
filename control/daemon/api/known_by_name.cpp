#include "control/daemon/api/known_by_name.hpp"

#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/range_rows.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/network_bans.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

namespace sluice {
namespace {

// Canonical bytes as people write them; ports by a name that no rule has.
std::string text_of_bytes(ByteView bytes) {
    return text_of_key(bytes, [](std::uint64_t) { return std::string{"?"}; });
}

// The key of packets of what is sought: of a network that is narrower, the one that it lies in.
Result<ReadKey> read_exact(const GroupingKey& key, const Sought& sought, const TextNames& names) {
    Result<ReadKey> read = read_key_text(key, sought.text, names);
    if (!read && sought.has_network() && !leaves_open(key, sought)) {
        read = read_key_text(key, to_text(sought.network.version, sought.network.address), names);
    }
    return read;
}

// True if the rule would count packets of what is sought under a key of this form, and not only if
// they happen to have it as another text.
bool is_counted_under(const GroupingKey& key, const Sought& sought) {
    return key.size() == 1 &&
           (key.front().is_address() ? sought.has_network()
                                     : sought.kind == Sought::Kind::Host && key.front().text &&
                                           row_of(*key.front().text).kind == TextKind::Folded);
}

Json ban_json(const std::string& key, std::size_t tier, std::string_view source, std::int64_t until,
              const std::string& reason) {
    return {{"key", key},
            {"tier", tier},
            {"source", source},
            {"until", until == 0 ? Json() : Json(utc_text(until))},
            {"reason", reason}};
}

std::int64_t utc_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace

SettingsByRule settings_by_rule(const RuleView& view) {
    SettingsByRule by_rule;
    for (const KeySetting& one : view.keys) {
        if (!has_ended(one)) {
            by_rule.emplace(one.rule, &one);
        }
    }
    return by_rule;
}

KnownByName::KnownByName(const RuleSummary& rule, const RuleView& view,
                         const SettingsByRule& settings, const Sought& sought)
    : rule_{rule}, view_{view}, settings_{settings}, sought_{sought} {
    add_exact();
    add_set(settings);
    add_banned();
    add_overridden();
}

const KnownByName::Known* KnownByName::put(const ReadKey& key, bool exact, std::size_t room) {
    const std::size_t tier = key.index + std::size_t{1};
    const auto place = std::pair{tier, key.text};
    const auto there = keys_.find(place);
    if (there != keys_.end()) {
        return &there->second;
    }
    if (keys_.size() >= room) {
        cut_ = true;
        return nullptr;
    }
    const ByteView bytes = key.bytes.view();
    FoundKey found{{.action = KeyAction::Show,
                    .generation = view_.generation,
                    .rule = rule_.id,
                    .key = key.index,
                    .bytes = {bytes.begin(), bytes.end()},
                    .limit = ""},
                   key.text,
                   &rule_,
                   false};
    return &keys_.emplace(place, Known{std::move(found), exact}).first->second;
}

void KnownByName::add_exact() {
    for (std::size_t i = 0; i < rule_.keys.size(); ++i) {
        if (rule_.keys[i].empty()) {
            continue;
        }
        if (auto read = read_exact(rule_.keys[i], sought_, rule_.text_names)) {
            read->index = static_cast<std::uint8_t>(i);
            (void)put(*read, is_counted_under(rule_.keys[i], sought_), kMost);
        }
    }
}

std::optional<ReadKey> KnownByName::key_of(std::string_view text,
                                           std::optional<std::size_t> tier) const {
    for (std::size_t i = 0; i < rule_.keys.size(); ++i) {
        const GroupingKey& key = rule_.keys[i];
        if ((tier && *tier != i + 1) || !leaves_open(key, sought_)) {
            continue;
        }
        Result<ReadKey> read = read_key_text(key, text, rule_.text_names);
        if (read && has_part(key, read->bytes.view(), sought_)) {
            read->index = static_cast<std::uint8_t>(i);
            return *std::move(read);
        }
    }
    return std::nullopt;
}

const KnownByName::Known* KnownByName::add(std::string_view text, std::optional<std::size_t> tier) {
    const std::optional<ReadKey> key = key_of(text, tier);
    return key ? put(*key, false, kMost) : nullptr;
}

const KnownByName::Known* KnownByName::add_boxed(std::string_view text, std::size_t tier) {
    const std::optional<ReadKey> key = key_of(text, tier);
    return key ? put(*key, false, keys_.size() + 1) : nullptr;
}

bool KnownByName::concerns(std::string_view text, std::size_t tier) const {
    return key_of(text, tier).has_value();
}

void KnownByName::add_set(const SettingsByRule& settings) {
    const auto [first, last] = settings.equal_range(rule_.id);
    for (auto at = first; at != last; ++at) {
        (void)add(at->second->key, at->second->tier);
    }
}

// Keys that a file bans, by their bytes: of a hundred thousand few concern what is sought.
void KnownByName::add_banned() {
    if (rule_.banned == nullptr) {
        return;
    }
    for (const BannedKey& one : *rule_.banned) {
        const bool is_open =
            one.key < rule_.keys.size() && leaves_open(rule_.keys[one.key], sought_);
        if (is_open && !cut_ && has_part(rule_.keys[one.key], one.bytes, sought_)) {
            (void)add(text_of_bytes(one.bytes), one.key + std::size_t{1});
        }
    }
}

// Keys that `overrides` names, likewise.
void KnownByName::add_overridden() {
    if (rule_.named == nullptr) {
        return;
    }
    rule_.named->each([this](std::uint8_t key, ByteView bytes, const NamedRow&) {
        if (key < rule_.keys.size() && leaves_open(rule_.keys[key], sought_) &&
            has_part(rule_.keys[key], bytes, sought_)) {
            (void)add(text_of_bytes(bytes), key + std::size_t{1});
        }
        return !cut_;
    });
}

bool KnownByName::has_exact(std::size_t tier) const {
    return std::ranges::any_of(
        keys_, [&](const auto& one) { return one.first.first == tier && one.second.exact; });
}

bool KnownByName::is_in_networks(std::size_t key) const {
    return sought_.has_network() && key < rule_.keys.size() && rule_.keys[key].size() == 1 &&
           rule_.keys[key].front().is_address() && !has_exact(key + 1);
}

void KnownByName::put_row(Json& rows, Json row) {
    if (rows.size() == kMost) {
        cut_ = true;
    } else {
        rows.push_back(std::move(row));
    }
}

Json KnownByName::override_ranges() {
    Json rows = Json::array();
    if (rule_.ranges == nullptr) {
        return rows;
    }
    for (const NamedRange& one : *rule_.ranges) {
        if (is_in_networks(one.range.index) && meets(one.range, sought_)) {
            put_row(rows, override_range_json(one));
        }
    }
    return rows;
}

Json KnownByName::network_bans() {
    Json bans = Json::array();
    const auto [first, last] = settings_.equal_range(rule_.id);
    for (auto at = first; at != last; ++at) {
        const KeySetting& one = *at->second;
        if (one.what != KeySetting::What::Banned || !is_in_networks(one.tier - 1)) {
            continue;
        }
        const auto network = read_network_of_rule(rule_.keys, one.key, one.tier);
        if (network && has_part(rule_.keys[one.tier - 1], network->bytes.view(), sought_)) {
            put_row(bans, ban_json(one.key, one.tier, "operator", one.until, one.reason));
        }
    }
    if (rule_.banned == nullptr) {
        return bans;
    }
    for (const BannedKey& one : *rule_.banned) {
        const std::int64_t until =
            one.until == kForever ? 0 : std::chrono::ceil<std::chrono::seconds>(one.until).count();
        const KeyNetwork network = network_of_key(one.bytes);
        if (!is_in_networks(one.key) || (until != 0 && until <= utc_seconds()) ||
            network.length >= rule_.keys[one.key].front().length(IpVersion{network.version}) ||
            !has_part(rule_.keys[one.key], one.bytes, sought_)) {
            continue;
        }
        put_row(bans, ban_json(text_of_bytes(one.bytes), one.key + std::size_t{1}, "policy", until,
                               reason_of(one)));
    }
    return bans;
}

}  // namespace sluice
