#include "lib/policy/box/box_parts.hpp"
#include "lib/policy/file_keys/options_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace sluice {
namespace {

constexpr std::size_t kMostHostName = 253;
constexpr std::size_t kMostHeaderName = 64;
// Headers that have a meaning of their own to sluiced, or to whoever passes a request on.
constexpr auto kTakenHeaders = std::to_array<std::string_view>(
    {"host", "authorization", "origin", "sec-fetch-site", "content-type", "content-length",
     "transfer-encoding", "connection", "cookie", "if-match", "if-none-match", "accept-encoding"});

std::string in_small_letters(std::string_view text) {
    std::string small{text};
    for (char& c : small) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return small;
}

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

bool is_host_name(std::string_view text) {
    return !text.empty() && text.size() <= kMostHostName &&
           std::ranges::all_of(text, [](char c) { return is_name_char(c) || c == '.'; });
}

// Empty: it can name a header that a proxy adds.
std::string header_fault(std::string_view key, std::string_view name) {
    const std::string quoted = "`" + std::string{key} + "`";
    if (name.empty() || name.size() > kMostHeaderName || !std::ranges::all_of(name, is_name_char)) {
        return quoted + " is the name of a header: letters, digits and `-`";
    }
    if (std::ranges::find(kTakenHeaders, in_small_letters(name)) != kTakenHeaders.end()) {
        return quoted + " cannot be " + std::string{name} + ", which has a meaning of its own";
    }
    return "";
}

class WebReader {
public:
    WebReader(const YamlNode& node, const ReadContext& context) : node_{node}, context_{context} {}

    std::optional<WebOptions> read() {
        read_part(node_, "web", context_, web_);
        if (!node_.is_map() || !read_place()) {
            return std::nullopt;
        }
        check_headers();
        for (const WebProxy& proxy : web_.behind_proxy) {
            check_way_of(proxy);
        }
        check_reach();
        return web_;
    }

private:
    [[nodiscard]] Position place(std::string_view key) const {
        const YamlNode* value = value_of(node_, key);
        return value == nullptr ? node_.at : value->at;
    }

    bool read_place() {
        const YamlNode* listen = value_of(node_, "listen");
        const bool is_text = listen != nullptr && listen->is_scalar();
        if (is_text && listen->text.starts_with('/')) {
            web_.path = listen->text;
            return true;
        }
        const std::optional<ListenText> found = is_text ? read_listen(listen->text) : std::nullopt;
        if (!found) {
            context_.problems.error(place("listen"),
                                    "`listen` is an address and a port, such as "
                                    "\"127.0.0.1:8480\" or \"[::1]:8480\", or the path of a Unix "
                                    "socket, such as /run/sluice/web.sock");
            return false;
        }
        web_.address = found->address;
        web_.port = found->port;
        return true;
    }

    void check_headers() {
        for (const auto& [key, name] : {std::pair{"user_header", &web_.user_header},
                                        std::pair{"role_header", &web_.role_header}}) {
            if (const std::string fault = header_fault(key, *name); !fault.empty()) {
                context_.problems.error(place(key), fault);
            }
        }
        if (in_small_letters(web_.user_header) == in_small_letters(web_.role_header)) {
            context_.problems.error(place("role_header"),
                                    "`role_header` is another header than `user_header`");
        }
    }

    void check_way_of(const WebProxy& proxy) {
        if (!proxy.user.empty() && web_.path.empty()) {
            context_.problems.error(place("behind_proxy"),
                                    "a proxy is known by its `user` at a Unix socket alone: let "
                                    "`listen` be a path, or give its `address` and `secret_file`");
        }
        if (proxy.address && !web_.path.empty()) {
            context_.problems.error(place("behind_proxy"),
                                    "a proxy has no `address` at a Unix socket: give the `user` "
                                    "that it runs as");
        }
        for (const std::string* name : {&web_.user_header, &web_.role_header}) {
            if (proxy.address && in_small_letters(proxy.secret_header) == in_small_letters(*name)) {
                context_.problems.error(place("behind_proxy"),
                                        "`secret_header` is another header than `user_header` and "
                                        "`role_header`");
            }
        }
    }

    void check_reach() {
        const bool has_proxy = std::ranges::any_of(
            web_.behind_proxy, [](const WebProxy& proxy) { return proxy.address.has_value(); });
        if (web_.path.empty() && !is_loopback(web_.address) && !has_proxy) {
            context_.problems.error(
                place("listen"),
                "the dashboard speaks no TLS: `listen` is a loopback address or the path of a Unix "
                "socket, or `behind_proxy` names the proxies that alone may come from elsewhere; "
                "without one, ssh -L 8480:/run/sluice/sluiced-read.sock shows it");
        }
    }

    const YamlNode& node_;
    const ReadContext& context_;
    WebOptions web_{};
};

// nullopt: what is wrong was reported.
std::optional<WebProxy> read_proxy(const YamlNode& item, const ReadContext& context) {
    WebProxy proxy{};
    read_part(item, "behind_proxy", context, proxy);
    if (!item.is_map()) {
        return std::nullopt;
    }
    const auto refuse = [&](const YamlNode* at, const std::string& what) {
        context.problems.error(at == nullptr ? item.at : at->at, what);
        return std::nullopt;
    };
    const YamlNode* address = value_of(item, "address");
    if (proxy.user.empty() == (address == nullptr)) {
        return refuse(nullptr,
                      "a proxy is {user: NAME}, by the Unix socket, or {address: ADDRESS, "
                      "secret_file: FILE, secret_header: NAME}");
    }
    if (address == nullptr) {
        if (!proxy.secret_file.empty() || !proxy.secret_header.empty()) {
            return refuse(nullptr, "a proxy by the Unix socket is known by its `user` alone");
        }
        return proxy;
    }
    proxy.address = address->is_scalar() ? parse_address(address->text) : std::nullopt;
    if (!proxy.address) {
        return refuse(address, "`address` of a proxy is one address, such as 192.0.2.10");
    }
    if (proxy.secret_file.empty()) {
        return refuse(nullptr,
                      "a proxy by its `address` needs a `secret_file`, and says what is in it by "
                      "`secret_header`: whatever else runs on that machine has its address too");
    }
    if (const std::string fault = header_fault("secret_header", proxy.secret_header);
        !fault.empty()) {
        return refuse(value_of(item, "secret_header"), fault);
    }
    return proxy;
}

// nullptr: not there, or no list; that was reported.
const YamlNode* web_list(const MapReader& map, std::string_view key, const ReadContext& context,
                         std::size_t most, const std::string& what) {
    const YamlNode* node = map.find(key);
    if (node != nullptr && (!node->is_list() || node->items.size() > most)) {
        context.problems.error(node->at, "`" + std::string{key} + "` is a list of at most " +
                                             std::to_string(most) + " " + what);
        return nullptr;
    }
    return node;
}

}  // namespace

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<std::string>& into) {
    const YamlNode* hosts =
        web_list(map, key, context, kMostWebHosts, "names by which browsers call the dashboard");
    for (std::size_t i = 0; hosts != nullptr && i < hosts->items.size(); ++i) {
        const YamlNode& item = hosts->items[i];
        if (!item.is_scalar() || !(is_host_name(item.text) || parse_address(item.text))) {
            context.problems.error(item.at,
                                   "a host is a name or an address without a port and a scheme, "
                                   "such as sluice.example.net");
        } else {
            into.push_back(in_small_letters(item.text));
        }
    }
}

void read_own(const MapReader& map, std::string_view key, const ReadContext& context,
              std::vector<WebProxy>& into) {
    const YamlNode* proxies = web_list(map, key, context, kMostWebProxies, "proxies");
    for (std::size_t i = 0; proxies != nullptr && i < proxies->items.size(); ++i) {
        if (std::optional<WebProxy> proxy = read_proxy(proxies->items[i], context)) {
            into.push_back(*std::move(proxy));
        }
    }
}

std::optional<WebOptions> read_web(const YamlNode& node, const ReadContext& context) {
    return WebReader{node, context}.read();
}

}  // namespace sluice
