#pragma once
#include "control/daemon/http.hpp"
#include "control/daemon/web/request_headers.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sluice {

// The host of a Host header or of a URL: without its port, in small letters, an address as it is
// spelt by itself. nullopt: it is none.
[[nodiscard]] std::optional<std::string> host_in(std::string_view authority);

// The names by which the dashboard may be called. A page of others whose name is led to the box's
// address (DNS rebinding) still calls it by that name.
class OwnHosts {
public:
    // localhost and the loopback addresses are always of them.
    OwnHosts();
    void add(std::string_view host);
    [[nodiscard]] bool has(const std::string& host) const { return hosts_.contains(host); }

private:
    std::set<std::string, std::less<>> hosts_;
};

// The page that a browser says it asks for.
enum class AskingPage : unsigned char {
    Unsaid,  // no browser, or none that says it
    Own,     // ours, or an address that a person has typed
    Other,
};
[[nodiscard]] HttpResponse foreign_page();
[[nodiscard]] AskingPage asking_page(const RequestHeaders& headers);

// application/json or application/yaml, which no page of others can send without being asked for
// it first.
[[nodiscard]] bool is_own_content_type(std::string_view type);

}  // namespace sluice
