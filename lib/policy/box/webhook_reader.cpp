#include "lib/packet/ip_address.hpp"
#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/file_keys/options_reader.hpp"
#include "lib/policy/rules/rule_id.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace sluice {
namespace {

constexpr std::size_t kMostUrl = 2048;

// The part of a URL between its scheme and its path.
std::string_view authority_of(std::string_view url) {
    const std::size_t begin = url.find("://") + 3;
    return url.substr(begin, url.find_first_of("/?#", begin) - begin);
}

// The part of `host:port` before the colon, with the brackets of an IPv6 address.
std::string_view webhook_host(std::string_view authority) {
    if (authority.starts_with('[')) {
        return authority.substr(0, authority.find(']') + 1);
    }
    return authority.substr(0, authority.find(':'));
}
// The part behind the colon; none: that of the scheme.
std::string_view webhook_port(std::string_view authority) {
    const std::string_view rest = authority.substr(webhook_host(authority).size());
    return rest.empty() ? "443" : rest.substr(1);
}

bool is_port_number(std::string_view text) {
    std::uint16_t port = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size() && port != 0;
}

// An address of those that sluiced calls no webhook at; a name is looked up by each call.
bool is_closed_address(std::string_view host) {
    const bool is_v6 = host.starts_with('[');
    const auto address = parse_address(is_v6 ? host.substr(1, host.size() - 2) : host);
    for (const std::string_view closed :
         {"169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "::ffff:a9fe:0/112"}) {
        const auto prefix = parse_prefix(closed);
        if (address && prefix && address->version == prefix->version &&
            masked(address->address, prefix->length) == prefix->address) {
            return true;
        }
    }
    return false;
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
    if (authority.find('@') != std::string_view::npos) {
        return "`url` has no user and no password: notices are signed with `secret_file`";
    }
    if (!is_port_number(webhook_port(authority))) {
        return "the port of `url` is a number from 1 to 65535";
    }
    if (is_closed_address(webhook_host(authority))) {
        return "no notice goes to a link-local address (169.254.0.0/16, fe80::/10, fd00:ec2::/32), "
               "at which clouds tell secrets";
    }
    return "";
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
    const YamlNode* ca_file = value_of(entry.value, "ca_file");
    if (ca_file != nullptr && webhook.url.starts_with("http://")) {
        context.problems.error(ca_file->at,
                               "`ca_file` says whose certificate to trust, and an http:// webhook "
                               "shows none");
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
