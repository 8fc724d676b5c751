#include "lib/packet/ip_address.hpp"
#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/file_keys/options_reader.hpp"
#include "lib/policy/rules/rule_id.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr std::size_t kMostUrl = 2048;

// The part of a URL between its scheme and its path.
std::string_view authority_of(std::string_view url) {
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, url.find_first_of("/?#", begin) - begin);
}

// Not the rest: what remains is read by who calls it. Empty: it can be one.
std::string url_fault(std::string_view url) {
    if (!url.starts_with("https://") && !url.starts_with("http://")) {
        return "`url` begins with https:// or http://";
    }
    if (url.size() > kMostUrl ||
        !std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < 0x7F; })) {
        return "`url` has at most " + std::to_string(kMostUrl) +
               " printable ASCII characters, and no space";
    }
    const std::string_view authority = authority_of(url);
    if (authority.empty() || authority.starts_with(':')) {
        return "`url` names no host";
    }
    return authority.find('@') == std::string_view::npos
               ? ""
               : "`url` has no user and no password: notices are signed with `secret_file`";
}

bool stays_here(std::string_view authority) {
    const std::size_t port =
        authority.starts_with('[') ? authority.find("]:") : authority.find(':');
    const std::string_view host =
        authority.substr(0, authority.starts_with('[') && port != authority.npos ? port + 1 : port);
    return host == "[::1]" || host == "localhost" ||
           (host.starts_with("127.") && parse_address(host));
}

// nullopt: what is wrong was reported.
std::optional<Webhook> read_webhook(const YamlEntry& entry, const ReadContext& context) {
    Webhook webhook{.name = entry.key.text, .url = {}, .secret_file = {}, .ca_file = {}};
    if (!is_rule_id(webhook.name)) {
        context.problems.error(entry.key.at,
                               "the name of a webhook has 1 to 128 lower-case letters, digits and "
                               "`-`, as ids of rules have");
        return std::nullopt;
    }
    read_part(entry.value, webhook.name, context, webhook);
    if (!entry.value.is_map()) {
        return std::nullopt;
    }
    const YamlNode* url = value_of(entry.value, "url");
    const Position at = url == nullptr ? entry.value.at : url->at;
    if (const std::string fault = url_fault(webhook.url); !fault.empty()) {
        context.problems.error(at, fault);
        return std::nullopt;
    }
    if (webhook.secret_file.empty()) {
        context.problems.error(entry.value.at,
                               "a webhook needs a `secret_file`: notices are signed with it");
        return std::nullopt;
    }
    if (webhook.url.starts_with("http://") && !stays_here(authority_of(webhook.url))) {
        context.problems.warning(at,
                                 "notices go there unencrypted: whoever is on the way reads "
                                 "them, though nobody can sign others");
    }
    return webhook;
}

}  // namespace

std::vector<Webhook> read_webhooks(const YamlNode& node, const ReadContext& context) {
    if (!node.is_map()) {
        context.problems.error(node.at,
                               "`notify` is a map of webhooks, NAME: {url: \"https://…\", "
                               "secret_file: FILE}; found " +
                                   kind_name(node));
        return {};
    }
    if (node.entries.size() > kMostWebhooks) {
        context.problems.error(
            node.at, "`notify` has at most " + std::to_string(kMostWebhooks) + " webhooks");
        return {};
    }
    std::vector<Webhook> webhooks;
    for (const YamlEntry& entry : node.entries) {
        if (std::optional<Webhook> webhook = read_webhook(entry, context)) {
            webhooks.push_back(*std::move(webhook));
        }
    }
    return webhooks;
}

}  // namespace sluice
