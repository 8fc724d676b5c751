#include "lib/policy/limits/bucket_limit_reader.hpp"

namespace sluice {
namespace {

// Rate and burst, whatever the burst is called. nullopt: reported.
std::optional<Limit> read_gcra(const LimitNumbersReader& numbers, std::string_view burst_key,
                               LimitText& limit) {
    const std::optional<Rate> rate = numbers.rate("rate");
    const std::optional<Units> burst = numbers.amount(burst_key);
    if (!rate || !burst) {
        return std::nullopt;
    }
    numbers.warn_if_below_mtu(burst_key, *burst);
    const Result<Limit> made = Limit::make(*rate, *burst);
    if (!made) {
        const bool of_burst = made.error().what.starts_with("the burst");
        numbers.report(made.error(), {of_burst ? burst_key : "rate"});
        return std::nullopt;
    }
    const std::string& burst_text = numbers.text(burst_key);
    limit.text += " " + numbers.text("rate") + " " + std::string{burst_key} + " " + burst_text;
    limit.bound =
        burst_text + std::string{numbers.unit_word()} + " + " + numbers.text("rate") + " * W";
    return *made;
}

}  // namespace

void read_token_bucket(const LimitNumbersReader& numbers, LimitText& limit) {
    if (const std::optional<Limit> gcra = read_gcra(numbers, "burst", limit)) {
        limit.numbers = TokenBucketLimit{*gcra};
    }
}

void read_leaky_bucket(const LimitNumbersReader& numbers, LimitText& limit) {
    if (const std::optional<Limit> gcra = read_gcra(numbers, "queue", limit)) {
        limit.numbers = LeakyBucketLimit{*gcra};
    }
}

}  // namespace sluice
