#pragma once
#include "control/daemon/http.hpp"
#include "control/daemon/keeper/rule_drafts.hpp"
#include "control/json.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <variant>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostOfCapture = 8U << 20;  // bytes

// A capture that a draft is to judge.
struct ReplayedAsk {
    RuleDraft draft;
    std::vector<std::byte> capture;
    std::vector<IpPrefix> inside;  // networks behind the box: what they send goes out
};

// 400: the body is not {"text":"…","capture":"base64","inside":["network"]}; 413: the capture is
// larger than kMostOfCapture.
[[nodiscard]] std::variant<ReplayedAsk, HttpResponse> replayed_ask_of(const Json& body,
                                                                      const HttpRequest& request);

}  // namespace sluice
