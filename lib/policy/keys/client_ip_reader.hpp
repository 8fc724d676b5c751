#pragma once
#include "lib/packet/client_address.hpp"
#include "lib/policy/values/named_text.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class NamedLists;

// `client_ip` of a rule file: what client.ip is made of.
struct ClientIp {
    ClientView view;
    // The source that names clients, if there is one; shared by the sets that are compiled.
    std::shared_ptr<const ClientSource> source{};
    std::string proxies{};  // that are trusted, a space before each; of lists, what they held
    // Services whose proxies name clients in headers of the PROXY protocol, likewise.
    std::string services{};
};

// Reports what is wrong. `lists`: what a `$name` among the proxies can be.
[[nodiscard]] ClientIp read_client_ip(const YamlNode& node, NamedLists& lists,
                                      const ReadContext& context);

// The meaning of client.ip in this context.
[[nodiscard]] ClientView client_view(const ReadContext& context) noexcept;

[[nodiscard]] bool asks_for_client(bool condition_asks, const std::vector<GroupingKey>& keys);
inline constexpr std::string_view kClientSetting = "client_ip";
// client.ip belongs to the rules that use it, though it is defined at the top of the file:
// "prefixes 24|64, unwrap nat64 v4mapped, from x-forwarded-for 1 of 10.0.0.0/8 $proxies (2 ranges,
// 5f3a09c1), from PROXY headers to web". A list whose addresses have changed has another digest.
void note_client(const ClientIp& client, std::vector<NamedText>& settings);

}  // namespace sluice
