#pragma once
#include "lib/packet/internet_checksum.hpp"
#include "lib/respond/answer/answer_bounds.hpp"
#include "lib/respond/answer/http_date.hpp"
#include "lib/respond/answer/made_response.hpp"
#include "lib/respond/answer/tcp_answer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// The response, and all that its bytes and its segments depend on.
struct ResponseKey {
    std::uint64_t load = 0;      // of the rules
    std::uint16_t response = 0;  // of their plan
    bool is_head = false;        // it answers a HEAD request
    bool has_timestamps = false;
    QuotaNumbers numbers;

    [[nodiscard]] bool operator==(const ResponseKey&) const noexcept = default;
};

// A response as it was written, how it is cut, and what the bytes of each segment add to its
// checksum.
struct WrittenResponse {
    ResponseKey key;
    std::uint32_t date = 0;  // of its Date: seconds since 1970
    std::size_t size = 0;    // 0: nothing was written yet
    ResponseCut cut;
    std::array<InternetChecksum, kMostResponseSegments> sums;
    std::array<std::byte, kMostResponseBytes> bytes;

    [[nodiscard]] ByteView view() const noexcept { return ByteView{bytes}.first(size); }
};

// Responses that a worker has written last: under a flood most answers say what one of them says.
// A key has one place, and once a second another date is put into it.
class WrittenResponses {
public:
    // Good until the next call. `made` is what the key names, `date` in seconds since 1970.
    [[nodiscard]] const WrittenResponse& get(const ResponseKey& key, std::uint32_t date,
                                             const MadeResponse& made) noexcept;

private:
    [[nodiscard]] static std::size_t place_of(const ResponseKey& key) noexcept;

    HttpDate date_;
    std::vector<WrittenResponse> places_ = std::vector<WrittenResponse>(kKeptResponses);
};

}  // namespace sluice
