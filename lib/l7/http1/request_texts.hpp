#pragma once
#include "lib/base/result.hpp"
#include "lib/l7/http1/wanted_headers.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/packet/text_name.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {

// The headers and cookies that a rule set reads, each with its text field. Made when the set is
// loaded; the parser of requests keeps exactly these.
class RequestTexts {
public:
    // A place among the wanted headers or cookies, and the text that stands there. Two texts can be
    // of one place, as http.user_agent and http.request.headers["user-agent"] are.
    struct Place {
        std::uint8_t place = 0;
        TextField field{};
    };

    RequestTexts() : RequestTexts{*WantedHeaders::make({}, {})} {}
    // Reads the texts in `read`; `names` are those of the set, `client_header` that of
    // kClientHeader. Refused where a name is no token.
    [[nodiscard]] static Result<RequestTexts> make(const TextNames& names, TextFieldSet read,
                                                   std::string_view client_header = {});

    [[nodiscard]] const WantedHeaders& wanted() const noexcept { return wanted_; }
    // The text is RequestHead::header(place).first, of kClientHeader .last, or
    // RequestHead::cookie(place).first.
    [[nodiscard]] std::span<const Place> headers() const noexcept { return headers_; }
    [[nodiscard]] std::span<const Place> cookies() const noexcept { return cookies_; }

private:
    explicit RequestTexts(WantedHeaders wanted) : wanted_{std::move(wanted)} {}

    WantedHeaders wanted_;
    std::vector<Place> headers_;
    std::vector<Place> cookies_;
};

}  // namespace sluice
