#include "lib/policy/expression/port_words.hpp"

#include "lib/policy/problems/nearest.hpp"
#include "lib/policy/texts/letter_case.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace sluice {
namespace {

struct PortWord {
    std::string_view name;
    std::uint16_t number;
};

// Names from the IANA's "Service Name and Transport Protocol Port Number Registry", and what people
// call some of them.
constexpr auto kPortWords = std::to_array<PortWord>(
    {{"ftp", 21},          {"ssh", 22},     {"telnet", 23},     {"smtp", 25},
     {"dns", 53},          {"domain", 53},  {"tftp", 69},       {"http", 80},
     {"kerberos", 88},     {"pop3", 110},   {"sunrpc", 111},    {"ntp", 123},
     {"imap", 143},        {"snmp", 161},   {"bgp", 179},       {"ldap", 389},
     {"https", 443},       {"smtps", 465},  {"syslog", 514},    {"submission", 587},
     {"ldaps", 636},       {"imaps", 993},  {"pop3s", 995},     {"openvpn", 1194},
     {"mysql", 3306},      {"rdp", 3389},   {"stun", 3478},     {"sip", 5060},
     {"postgresql", 5432}, {"redis", 6379}, {"http-alt", 8080}, {"memcached", 11211},
     {"wireguard", 51820}});

}  // namespace

std::string number_of_port_word(std::string_view word) {
    std::vector<std::string_view> names;
    for (const PortWord& one : kPortWords) {
        names.push_back(one.name);
    }
    const std::string small = lowered(word);
    const std::string_view found = nearest(small, names);
    const auto row = std::find_if(kPortWords.begin(), kPortWords.end(),
                                  [&](const PortWord& one) { return one.name == found; });
    if (row == kPortWords.end()) {
        return {};
    }
    const std::string number = "`" + std::to_string(row->number) + "`";
    return small == found ? "; write " + number
                          : "; did you mean " + number + ", " + std::string{found} + "?";
}

}  // namespace sluice
