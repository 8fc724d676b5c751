#include "lib/policy/texts/name_form.hpp"

#include "lib/policy/values/network_text.hpp"

#include <algorithm>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

constexpr std::string_view kNameBlanks = " \t";

// " has names alone: "0.0.0.0 a.example" is a line of a hosts file; write "a.example""
std::string no_name(std::string_view text, std::string_view what, std::string_view meant) {
    const std::string why =
        " has names alone: \"" + std::string{text} + "\" is " + std::string{what};
    return meant.empty() ? why : why + "; write \"" + std::string{meant} + "\"";
}

std::string_view up_to_any(std::string_view text, std::string_view ends) noexcept {
    return text.substr(0, std::min(text.find_first_of(ends), text.size()));
}

std::string_view behind(std::string_view text, std::size_t at) noexcept {
    return text.substr(std::min(at, text.size()));
}

// 0.0.0.0 a.example
Fault fault_of_hosts_line(std::string_view text) {
    const std::size_t blank = text.find_first_of(kNameBlanks);
    if (blank == std::string_view::npos || !parse_network(text.substr(0, blank))) {
        return std::nullopt;
    }
    const std::string_view rest = behind(text, text.find_first_not_of(kNameBlanks, blank));
    return no_name(text, "a line of a hosts file", up_to_any(rest, kNameBlanks));
}

// address=/a.example/0.0.0.0
Fault fault_of_dnsmasq(std::string_view text) {
    const std::size_t begin = text.find("=/");
    return begin == std::string_view::npos
               ? std::nullopt
               : Fault{no_name(text, "a line of dnsmasq", up_to_any(text.substr(begin + 2), "/"))};
}

// ||a.example^$third-party
Fault fault_of_adblock(std::string_view text) {
    if (text.starts_with('!') || text.starts_with("[Adblock")) {
        return no_name(text, "a comment of an Adblock list, and a comment begins with # here", "");
    }
    if (!text.starts_with('|') && !text.starts_with("@@") &&
        text.find('^') == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = behind(text, text.find_first_not_of("@|"));
    const std::size_t scheme = rest.find("://");
    const std::string_view name =
        up_to_any(scheme == std::string_view::npos ? rest : rest.substr(scheme + 3), "^$/|:");
    const bool is_plain = name.find('*') == std::string_view::npos;
    return no_name(text, "a filter of Adblock", is_plain ? name : std::string_view{});
}

// https://user@a.example:8443/b; without a scheme a slash tells it. A label of a queried name may
// have one (RFC 2317, 4).
Fault fault_of_url(TextField field, std::string_view text) {
    const std::size_t scheme = text.find("://");
    const bool has_scheme = scheme != std::string_view::npos;
    if (!has_scheme && (field == TextField::DnsQname || text.find('/') == std::string_view::npos)) {
        return std::nullopt;
    }
    std::string_view host = up_to_any(has_scheme ? text.substr(scheme + 3) : text, "/?#");
    host = behind(host, host.find('@') == std::string_view::npos ? 0 : host.find('@') + 1);
    return no_name(
        text, "a URL",
        host.starts_with('[') ? host.substr(0, host.find(']') + 1) : up_to_any(host, ":"));
}

// *.a.example, .a.example
Fault fault_of_wildcard(const ComparedText& compared) {
    const std::string_view text = compared.text;
    const bool is_whole = compared.how == TextHow::Equals;
    const bool has_star = text.find('*') != std::string_view::npos;
    const bool is_below = is_whole && text.size() > 1 && text.starts_with('.');
    if (!has_star && !is_below) {
        return std::nullopt;
    }
    const std::string field{row_of(compared.field).name};
    const std::string why = no_name(text, "a wildcard", "");
    const std::string_view name = behind(text, text.find_first_not_of("*."));
    if (compared.how == TextHow::EndsWith && text.starts_with("*.") && !name.empty() &&
        name.find('*') == std::string_view::npos) {
        return why + "; write \"." + std::string{name} + "\"";
    }
    if (!is_whole || name.empty() || name.find('*') != std::string_view::npos) {
        return why + ", and a star stands for itself; write " + field + " matches \"...\"";
    }
    return why + "; write \"" + std::string{name} + "\" for that name, and for names below it " +
           "ends_with(" + field + ", \"." + std::string{name} + "\") or registrable_domain(" +
           field + ")";
}

}  // namespace

std::optional<std::string> find_name_form_fault(const ComparedText& compared) {
    if (Fault fault = fault_of_hosts_line(compared.text)) {
        return fault;
    }
    if (Fault fault = fault_of_dnsmasq(compared.text)) {
        return fault;
    }
    if (Fault fault = fault_of_adblock(compared.text)) {
        return fault;
    }
    if (Fault fault = fault_of_url(compared.field, compared.text)) {
        return fault;
    }
    return fault_of_wildcard(compared);
}

}  // namespace sluice
