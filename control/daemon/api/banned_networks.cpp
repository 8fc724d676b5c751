#include "control/daemon/api/banned_networks.hpp"

#include "control/daemon/api/ban_rows.hpp"
#include "control/daemon/api/change.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/network_bans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

namespace sluice {
namespace {

// True if a key of one address lies in a network that is shorter than it.
bool lies_in(ByteView key, ByteView network) {
    const KeyNetwork of_key = network_of_key(key);
    const KeyNetwork wider = network_of_key(network);
    if (of_key.version == 0 || wider.version != of_key.version || wider.length >= of_key.length) {
        return false;
    }
    for (unsigned bit = 0; bit < wider.length; bit += 8) {
        const std::size_t at = sizeof(KeyPartHeader) + bit / 8;
        const unsigned kept = std::min(8U, wider.length - bit);
        const auto mask = static_cast<std::byte>(0xFF00U >> kept);
        if ((key[at] & mask) != (network[at] & mask)) {
            return false;
        }
    }
    return true;
}

using Networks = std::vector<std::pair<unsigned, Json>>;  // with their lengths

// False: it has ended.
bool add_end(Json& ban, std::int64_t until) {
    using std::chrono::system_clock;
    const std::int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(system_clock::now().time_since_epoch())
            .count();
    ban["until"] = until == 0 ? Json() : Json(utc_text(until));
    ban["left_s"] = until == 0 ? Json() : Json(until - now);
    return until == 0 || until > now;
}

void add(ByteView network, Json ban, std::int64_t until, Networks& networks) {
    if (add_end(ban, until)) {
        networks.emplace_back(network_of_key(network).length, std::move(ban));
    }
}

// The file is the one that the rule names.
std::string end_of_line(const BannedKey& ban) {
    return fmt::format("line {} taken out of the rule's override file", ban.line);
}

void add_set(const FoundKey& found, const RuleView& view, Networks& networks) {
    const std::size_t tier = found.ask.key + std::size_t{1};
    for (const KeySetting& one : view.keys) {
        if (one.rule != found.ask.rule || one.tier != tier ||
            one.what != KeySetting::What::Banned || one.key.find('/') == std::string::npos) {
            continue;
        }
        const Result<ReadKey> network = read_network_of_rule(found.rule->keys, one.key, tier);
        if (network && lies_in(std::as_bytes(std::span{found.ask.bytes}), network->bytes.view())) {
            add(network->bytes.view(),
                {{"key", one.key},
                 {"source", "operator"},
                 {"reason", one.reason},
                 {"ends_with", fmt::format("key unban {} {}", one.rule, one.key)}},
                one.until, networks);
        }
    }
}

void add_of_files(const FoundKey& found, Networks& networks) {
    if (found.rule->banned == nullptr) {
        return;
    }
    for (const BannedKey& one : *found.rule->banned) {
        if (one.key != found.ask.key ||
            !lies_in(std::as_bytes(std::span{found.ask.bytes}), one.bytes)) {
            continue;
        }
        const std::string text =
            text_of_key(std::span{one.bytes}, [](std::uint64_t) { return std::string{"?"}; });
        add(one.bytes,
            {{"key", text},
             {"source", "policy"},
             {"reason", reason_of(one)},
             {"ends_with", end_of_line(one)}},
            end_of(one), networks);
    }
}

}  // namespace

std::string reason_of(const BannedKey& ban) {
    return ban.reason == nullptr ? "" : *ban.reason;
}

Json file_ban_json(const FoundKey& found) {
    if (found.rule->banned == nullptr) {
        return {};
    }
    const ByteView key = std::as_bytes(std::span{found.ask.bytes});
    for (const BannedKey& one : *found.rule->banned) {
        if (one.key == found.ask.key && std::ranges::equal(one.bytes, key)) {
            Json ban{
                {"source", "policy"}, {"reason", reason_of(one)}, {"ends_with", end_of_line(one)}};
            return add_end(ban, end_of(one)) ? ban : Json();
        }
    }
    return {};
}

Json networks_json(const FoundKey& found, const RuleView& view) {
    Networks networks;
    add_set(found, view, networks);
    add_of_files(found, networks);
    std::stable_sort(networks.begin(), networks.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    Json json = Json::array();
    for (auto& [length, ban] : networks) {
        json.push_back(std::move(ban));
    }
    return json;
}

std::string text_of_networks(const Json& networks) {
    std::string text;
    for (const Json& one : networks) {
        const auto reason = text_at(one, "reason");
        text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", text_at(one, "key"),
                            text_at(one, "source"), reason.empty() ? "" : ", because: " + reason);
    }
    return text;
}

std::string ends_of(const Json& file_ban, const Json& networks) {
    std::string text = file_ban.is_null() ? "" : text_at(file_ban, "ends_with");
    for (const Json& one : networks) {
        text += (text.empty() ? "" : " and ") + text_at(one, "ends_with");
    }
    return text;
}

std::string everybody_text(const FoundKey& found) {
    const KeyNetwork network =
        found.is_network ? network_of_key(ByteView{found.ask.bytes}) : KeyNetwork{};
    return network.version == 0 || network.length != 0
               ? ""
               : fmt::format("every address of IPv{} is banned by {}", network.version, found.text);
}

}  // namespace sluice
