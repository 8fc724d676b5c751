#include "lib/respond/answer/written_responses.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::written_responses_test {
namespace {

constexpr std::uint32_t kSecond = 784'111'777;

std::string written_for(const ResponseKey& key, const MadeResponse& made,
                        std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT") {
    std::string text(made.max_size(), '?');
    text.resize(
        made.write(key.numbers, key.is_head, date, std::as_writable_bytes(std::span{text})));
    return text;
}

// The sum of one segment's bytes, and of those alone.
void expect_sums(const WrittenResponse& response) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < response.cut.count; ++i) {
        const ByteView rest = response.view().subspan(at);
        const ByteView piece = rest.first(std::min(rest.size(), response.cut.piece));
        InternetChecksum sum;
        sum.add(piece);
        EXPECT_EQ(response.sums[i].value(), sum.value());
        at += piece.size();
    }
    EXPECT_EQ(at, response.size);
}

// More keys than there are places, each twice, and each again after all the others: all of a key
// counts.
TEST(WrittenResponses, SayWhatTheirKeysSay) {
    const std::vector<MadeResponse> made{*MadeResponse::compile({.policy = "a"}),
                                         *MadeResponse::compile({.policy = "bc"})};
    std::vector<ResponseKey> keys;
    for (std::uint64_t number = 0; number < 40; ++number) {
        for (unsigned kind = 0; kind < 8; ++kind) {
            keys.push_back({.load = 1 + number % 2,
                            .response = static_cast<std::uint16_t>(1 + kind % 2),
                            .is_head = (kind & 2U) != 0,
                            .has_timestamps = (kind & 4U) != 0,
                            .numbers = {.quota = 10 + number / 8,
                                        .remaining = number % 3,
                                        .window = number % 5,
                                        .retry_after = number}});
        }
    }
    WrittenResponses written;
    for (int pass = 0; pass < 2; ++pass) {
        for (const ResponseKey& key : keys) {
            const MadeResponse& response = made[key.response - std::size_t{1}];
            for (int again = 0; again < 2; ++again) {
                const WrittenResponse& got = written.get(key, kSecond, response);
                const std::string text{reinterpret_cast<const char*>(got.bytes.data()), got.size};
                EXPECT_EQ(text, written_for(key, response));
                EXPECT_EQ(got.cut.piece, key.has_timestamps ? 524U : 536U);
                expect_sums(got);
            }
        }
    }
}

// With its sum, also where it is only the date that has changed.
TEST(WrittenResponses, HaveTheDateOfTheSecond) {
    const MadeResponse made = *MadeResponse::compile({.body = std::string(600, 'x')});
    const ResponseKey key{.load = 1, .response = 1};
    WrittenResponses written;
    for (const auto& [second, date] : {std::pair{kSecond, "Sun, 06 Nov 1994 08:49:37 GMT"},
                                       std::pair{kSecond + 1, "Sun, 06 Nov 1994 08:49:38 GMT"},
                                       std::pair{kSecond + 1, "Sun, 06 Nov 1994 08:49:38 GMT"},
                                       std::pair{kSecond, "Sun, 06 Nov 1994 08:49:37 GMT"}}) {
        const WrittenResponse& got = written.get(key, second, made);
        const std::string text{reinterpret_cast<const char*>(got.bytes.data()), got.size};
        EXPECT_EQ(text, written_for(key, made, date));
        EXPECT_EQ(got.cut.count, 2U);
        expect_sums(got);
    }
}

// Of other rules the same row may say something else.
TEST(WrittenResponses, ForgetWithTheRules) {
    const MadeResponse before = *MadeResponse::compile({.policy = "before"});
    const MadeResponse behind = *MadeResponse::compile({.policy = "behind"});
    WrittenResponses written;
    ResponseKey key{.load = 1, .response = 1, .numbers = {.retry_after = 5}};
    (void)written.get(key, kSecond, before);
    key.load = 2;
    const WrittenResponse& got = written.get(key, kSecond, behind);
    const std::string text{reinterpret_cast<const char*>(got.bytes.data()), got.size};
    EXPECT_EQ(text, written_for(key, behind));
}

}  // namespace
}  // namespace sluice::written_responses_test
