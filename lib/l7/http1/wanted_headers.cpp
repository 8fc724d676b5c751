#include "lib/l7/http1/wanted_headers.hpp"

#include "lib/base/token.hpp"
#include "lib/l7/http1/byte_classes.hpp"
#include "lib/l7/http1/texts.hpp"
#include "lib/packet/text_name.hpp"

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

// Programs behind CGI (RFC 3875, 4.1.18), and so WSGI and PHP, keep - and _ apart from no byte that
// their server makes a _ of: with lighttpd all but letters and digits.
constexpr bool is_joint(std::byte byte) noexcept {
    return !is_letter(byte) && !is_digit(byte);
}

constexpr std::byte joined_byte(std::byte byte) noexcept {
    return is_joint(byte) ? kHyphen : to_lower(byte);
}

// The names of the rules among those of all headers, joined.
std::vector<std::string> joined_names(const std::vector<std::string>& headers) {
    std::vector<std::string> names{headers.begin() + kFramingHeaderCount, headers.end()};
    for (std::string& name : names) {
        std::transform(name.begin(), name.end(), name.begin(), [](char byte) {
            return static_cast<char>(joined_byte(static_cast<std::byte>(byte)));
        });
    }
    return names;
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
    WantedHeaders wanted{std::move(all_headers), std::move(all_cookies)};
    for (const std::string& name : headers) {
        wanted.whole_ |= std::uint64_t{1} << wanted.header(bytes_of(name));
    }
    return wanted;
}

WantedHeaders::WantedHeaders(std::vector<std::string> headers, std::vector<std::string> cookies)
    : headers_{std::move(headers), true},
      cookies_{std::move(cookies), false},
      joined_{http1::joined_names(headers_.names()), true} {
    for (std::size_t place = kFramingHeaderCount; place < headers_.size(); ++place) {
        note_alike(static_cast<std::uint8_t>(place));
    }
}

// Any joint may stand where a name begins with one.
void WantedHeaders::note_alike(std::uint8_t place) {
    const ByteView name = bytes_of(headers_.name(place));
    if (http1::is_joint(name.front())) {
        // A copy: clang with ASan read on behind the literal in a loop over the view.
        for (const char mark : std::string{kTokenMarks}) {
            headers_.admit(static_cast<std::byte>(mark), name.size());
        }
    }
    has_other_joint_ |= std::any_of(name.begin(), name.end(), [](std::byte byte) {
        return http1::is_joint(byte) && byte != http1::kHyphen;
    });
    const std::string_view joined = joined_.name(place - kFramingHeaderCount);
    for (std::size_t other = kFramingHeaderCount; other < headers_.size(); ++other) {
        if (joined_.name(other - kFramingHeaderCount) == joined) {
            alike_[place] |= std::uint64_t{1} << other;
            paired_ |= std::uint64_t{other != place} << place;
        }
    }
}

std::uint8_t WantedHeaders::find_alike(ByteView name) const noexcept {
    std::array<std::byte, kMaxTextNameSize> room;
    const bool may_be = std::any_of(name.begin(), name.end(), [this](std::byte byte) {
        return http1::is_joint(byte) && (byte != http1::kHyphen || has_other_joint_);
    });
    if (!may_be || name.size() > room.size()) {
        return NameTable::kNone;
    }
    std::transform(name.begin(), name.end(), room.begin(), http1::joined_byte);
    const std::uint8_t found = joined_.find(ByteView{room}.first(name.size()));
    return found == NameTable::kNone
               ? found
               : static_cast<std::uint8_t>(kAlike | (found + kFramingHeaderCount));
}

}  // namespace sluice
