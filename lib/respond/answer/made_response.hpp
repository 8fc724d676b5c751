#pragma once
#include "lib/base/result.hpp"
#include "lib/respond/answer/numbered_text.hpp"
#include "lib/respond/answer/response_spec.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

// A response of HTTP/1 that ends its connection: RFC 9110, RFC 9112, and
// draft-ietf-httpapi-ratelimit-headers-11 for RateLimit-Policy, RateLimit and the problem type.
// HTTP/1.0 gets the same one: it is HTTP/1.1 in name, and has neither chunks nor trailers. The
// window of RateLimit ends with Retry-After; X-RateLimit-Reset counts seconds from the response
// on. Date (RFC 9110, 6.6.1) has a place of its own, which is filled in behind the numbers, unless
// the rule has one among its headers.
class MadeResponse {
public:
    // An error says what of the rule cannot be sent, or that the response could take more than
    // kMostResponseBytes.
    [[nodiscard]] static Result<MadeResponse> compile(const ResponseSpec& spec);

    // Head and body, whatever the numbers.
    [[nodiscard]] std::size_t max_size() const noexcept { return head_.max_size() + body_.size(); }
    // Returns the size; `to` has max_size(). A HEAD request gets no body. `date` has kHttpDateSize.
    [[nodiscard]] std::size_t write(const QuotaNumbers& numbers, bool is_head_request,
                                    std::string_view date, MutableBytes to) const noexcept;
    // Puts another date into one that was written; it lies in its first segment.
    void put_date(std::string_view date, MutableBytes response) const noexcept;

private:
    MadeResponse() = default;

    NumberedText head_;
    std::string body_;
    std::size_t date_at_ = 0;  // of the head; 0: the rule has one
};

}  // namespace sluice
