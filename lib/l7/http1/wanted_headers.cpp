#include "lib/l7/http1/wanted_headers.hpp"

#include "lib/base/token.hpp"
#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/texts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::http1 {

namespace {

constexpr std::array<std::string_view, kFramingHeaderCount> kFramingNames{
    "host",   "content-length", "transfer-encoding", "connection",
    "cookie", "upgrade",        "http2-settings",    "expect"};

// Adds what is not there yet; says what is wrong with a name, if anything.
template <typename Same>
std::string add_names(const std::vector<std::string>& names, Same&& same,
                      std::vector<std::string>& all) {
    for (const std::string& name : names) {
        if (!is_token(name)) {
            return "\"" + name + "\" is not a token";
        }
        const bool is_new = std::none_of(all.begin(), all.end(),
                                         [&](const std::string& one) { return same(one, name); });
        if (is_new) {
            all.push_back(name);
        }
    }
    return all.size() <= NameTable::kMaxNames ? "" : "more names than a rule set may have";
}

bool is_same_header(const std::string& a, const std::string& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char one, char other) {
        return to_lower(static_cast<std::byte>(one)) == to_lower(static_cast<std::byte>(other));
    });
}

// CGI (RFC 3875, 4.1.18), and with it WSGI and PHP, keep none of these apart in a name.
bool is_joint(std::byte byte) noexcept {
    return byte == std::byte{'-'} || byte == std::byte{'_'} || byte == std::byte{'.'};
}

bool is_alike(std::byte one, char other) noexcept {
    const auto own = static_cast<std::byte>(other);
    return to_lower(one) == own || (is_joint(one) && is_joint(own));
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

Result<WantedHeaders> WantedHeaders::make(const std::vector<std::string>& headers,
                                          const std::vector<std::string>& cookies) {
    std::vector<std::string> all_headers{http1::kFramingNames.begin(), http1::kFramingNames.end()};
    std::vector<std::string> all_cookies;
    const std::string bad_header = http1::add_names(headers, http1::is_same_header, all_headers);
    if (!bad_header.empty()) {
        return Error{Errc::OutOfRange, "headers: " + bad_header};
    }
    const std::string bad_cookie = http1::add_names(cookies, std::equal_to<>{}, all_cookies);
    if (!bad_cookie.empty()) {
        return Error{Errc::OutOfRange, "cookies: " + bad_cookie};
    }
    return WantedHeaders{std::move(all_headers), std::move(all_cookies)};
}

std::uint8_t WantedHeaders::alike(ByteView name) const noexcept {
    const bool may_be = std::any_of(name.begin(), name.end(), [](std::byte byte) {
        return byte == std::byte{'_'} || byte == std::byte{'.'};
    });
    for (std::size_t place = kFramingHeaderCount; may_be && place < headers_.size(); ++place) {
        const std::string_view own = headers_.name(place);
        if (std::equal(name.begin(), name.end(), own.begin(), own.end(), http1::is_alike)) {
            return static_cast<std::uint8_t>(kAlike | place);
        }
    }
    return NameTable::kNone;
}

}  // namespace sluice
