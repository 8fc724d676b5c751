#pragma once
#include "lib/base/now.hpp"
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>

// Slow, obvious models of every algorithm, made from the words of the rule language and sharing no
// code with lib/bucket/meter: tokens that flow in as exact integers ("grains"), and plain lists of
// what was charged when.
namespace sluice {

class Oracle {
public:
    Oracle() = default;
    Oracle(const Oracle&) = delete;
    Oracle& operator=(const Oracle&) = delete;
    virtual ~Oracle() = default;

    [[nodiscard]] virtual Conformance judge(Now now, Demand demand) const = 0;
    virtual void spend(Now now, Spending spending) = 0;
    // What `rejected_spend` takes.
    virtual void drain(Now now, std::uint64_t cost) = 0;
    [[nodiscard]] virtual std::uint64_t remaining(Now now) const = 0;
    [[nodiscard]] virtual bool fresh(Now now) const = 0;
};

// `units` in `period`, at most `burst` at once.
struct Inflow {
    std::uint64_t units;
    Nanoseconds period;
    std::uint64_t burst;
};

// A bucket of tokens. A token is `period` grains; each ns adds `units` grains.
struct Tokens {
    std::uint64_t per_ns;
    Wide token;
    Wide full;
    Wide grains;

    explicit Tokens(const Inflow& flow)
        : per_ns{flow.units},
          token{static_cast<std::uint64_t>(flow.period.count())},
          full{flow.burst * token},
          grains{full} {}

    // Fills it, and returns how many grains ran over.
    Wide pour(Wide amount) {
        const Wide fits = std::min(amount, full - grains);
        grains += fits;
        return amount - fits;
    }
    [[nodiscard]] bool has(std::uint64_t cost) const { return cost * token <= grains; }
    void take(std::uint64_t cost) { grains -= cost * token; }
    [[nodiscard]] std::uint64_t whole() const { return static_cast<std::uint64_t>(grains / token); }
};

inline Wide passed(Instant from, Instant to) {
    return to > from ? static_cast<Wide>(static_cast<std::uint64_t>((to - from).count())) : 0;
}

class TokenOracle : public Oracle {
public:
    explicit TokenOracle(const Inflow& flow) : tokens_{flow} {}

    [[nodiscard]] Conformance judge(Now now, Demand demand) const override {
        return filled(now).has(demand.cost.count()) ? Conformance::Green : Conformance::Red;
    }
    void spend(Now now, Spending spending) override {
        tokens_ = filled(now);
        at_ = now.at;
        tokens_.take(spending.cost.count());
    }
    void drain(Now now, std::uint64_t cost) override {
        tokens_ = filled(now);
        at_ = now.at;
        tokens_.grains -= std::min(tokens_.grains, cost * tokens_.token);
    }
    [[nodiscard]] std::uint64_t remaining(Now now) const override { return filled(now).whole(); }
    [[nodiscard]] bool fresh(Now now) const override { return filled(now).grains == tokens_.full; }

private:
    [[nodiscard]] Tokens filled(Now now) const {
        Tokens tokens = tokens_;
        tokens.pour(passed(at_, now.at) * tokens.per_ns);
        return tokens;
    }
    Tokens tokens_;
    Instant at_{};
};

// The RFC meters: C and E of RFC 2697 and 4115, C and P of RFC 2698.
class ColorOracle : public Oracle {
public:
    ColorOracle(ColorVariant variant, ColorMode mode, const Inflow& first, const Inflow& second)
        : variant_{variant}, mode_{mode}, first_{first}, second_{second} {}

    [[nodiscard]] Conformance judge(Now now, Demand demand) const override {
        auto [first, second] = filled(now);
        const Color came = mode_ == ColorMode::Blind ? Color::Green : demand.color;
        const std::uint64_t cost = demand.cost.count();
        if (variant_ == ColorVariant::Rfc2698) {
            if (came == Color::Red || !second.has(cost)) {
                return Conformance::Red;
            }
            return came == Color::Yellow || !first.has(cost) ? Conformance::Yellow
                                                             : Conformance::Green;
        }
        if (came == Color::Green && first.has(cost)) {
            return Conformance::Green;
        }
        return came != Color::Red && second.has(cost) ? Conformance::Yellow : Conformance::Red;
    }
    void spend(Now now, Spending spending) override {
        std::tie(first_, second_) = filled(now);
        at_ = now.at;
        const bool green = spending.conformance == Conformance::Green;
        if (green) {
            first_.take(spending.cost.count());
        }
        if (!green || variant_ == ColorVariant::Rfc2698) {
            second_.take(spending.cost.count());
        }
    }
    void drain(Now /*now*/, std::uint64_t /*cost*/) override {}
    [[nodiscard]] std::uint64_t remaining(Now now) const override {
        const auto [first, second] = filled(now);
        return variant_ == ColorVariant::Rfc2698 ? second.whole()
                                                 : std::max(first.whole(), second.whole());
    }
    [[nodiscard]] bool fresh(Now now) const override {
        const auto [first, second] = filled(now);
        return first.grains == first.full && second.grains == second.full;
    }

private:
    [[nodiscard]] std::pair<Tokens, Tokens> filled(Now now) const {
        std::pair<Tokens, Tokens> both{first_, second_};
        const Wide time = passed(at_, now.at);
        const Wide over = both.first.pour(time * first_.per_ns);
        both.second.pour(variant_ == ColorVariant::Rfc2697 ? over : time * second_.per_ns);
        return both;
    }
    ColorVariant variant_;
    ColorMode mode_;
    Tokens first_;
    Tokens second_;
    Instant at_{};
};

// What was charged and when. Says how much of it counts, in units times `scale`.
class ListOracle : public Oracle {
public:
    ListOracle(std::uint64_t count, Nanoseconds window) : count_{count}, window_{window} {}

    [[nodiscard]] Conformance judge(Now now, Demand demand) const override {
        return used(now) + demand.cost.count() * scale() <= count_ * scale() ? Conformance::Green
                                                                             : Conformance::Red;
    }
    void spend(Now now, Spending spending) override {
        while (!charges_.empty() && charges_.front().now.at + 3 * window_ < now.at) {
            charges_.pop_front();
        }
        charges_.push_back({now, spending.cost.count()});
    }
    void drain(Now now, std::uint64_t cost) override {
        const std::uint64_t fits = std::min(cost, remaining(now));
        if (fits != 0) {
            spend(now, {Units{fits}});
        }
    }
    [[nodiscard]] std::uint64_t remaining(Now now) const override {
        const Wide free = count_ * scale() - std::min(used(now), count_ * scale());
        return static_cast<std::uint64_t>(free / scale());
    }
    [[nodiscard]] bool fresh(Now now) const override { return used(now) == 0; }

protected:
    struct Charge {
        Now now;
        std::uint64_t units;
    };
    [[nodiscard]] virtual Wide used(Now now) const = 0;
    [[nodiscard]] virtual Wide scale() const { return 1; }
    [[nodiscard]] Nanoseconds window() const { return window_; }
    [[nodiscard]] const std::deque<Charge>& charges() const { return charges_; }

private:
    Wide count_;
    Nanoseconds window_;
    std::deque<Charge> charges_;
};

// Rounds down, also below zero.
inline std::int64_t index_of(Nanoseconds time, Nanoseconds window) {
    std::int64_t index = time / window;
    while (index * window > time) {
        --index;
    }
    return index;
}

// Windows at the multiples of W on UTC or the instants, shifted.
class AlignedWindowOracle : public ListOracle {
public:
    AlignedWindowOracle(std::uint64_t count, Nanoseconds window, Nanoseconds offset, bool utc)
        : ListOracle{count, window}, offset_{offset}, utc_{utc} {}

protected:
    [[nodiscard]] Wide used(Now now) const override {
        Wide sum = 0;
        for (const Charge& charge : charges()) {
            sum += index(charge.now) == index(now) ? charge.units : 0;
        }
        return sum;
    }

private:
    [[nodiscard]] std::int64_t index(Now now) const {
        return index_of((utc_ ? now.utc() : now.at.time_since_epoch()) + offset_, window());
    }
    Nanoseconds offset_;
    bool utc_;
};

// The half that something falls in, and the one before.
class HalvesOracle : public ListOracle {
public:
    using ListOracle::ListOracle;

protected:
    [[nodiscard]] Wide used(Now now) const override {
        Wide sum = 0;
        for (const Charge& charge : charges()) {
            sum += half(charge.now) + 1 >= half(now) ? charge.units : 0;
        }
        return sum;
    }

private:
    [[nodiscard]] std::int64_t half(Now now) const {
        return index_of(now.at.time_since_epoch(), Nanoseconds{(window().count() + 1) / 2});
    }
};

// Windows that begin with the first charge after the one before has ended.
class FirstWindowOracle : public ListOracle {
public:
    using ListOracle::ListOracle;

    void spend(Now now, Spending spending) override {
        if (now.at >= begin_ + window()) {
            begin_ = now.at;
        }
        ListOracle::spend(now, spending);
    }

protected:
    [[nodiscard]] Wide used(Now now) const override {
        Wide sum = 0;
        for (const Charge& charge : charges()) {
            sum += charge.now.at >= begin_ && now.at < begin_ + window() ? charge.units : 0;
        }
        return sum;
    }

private:
    Instant begin_{Nanoseconds{std::int64_t{-1} << 60}};
};

class WeightedWindowOracle : public ListOracle {
public:
    using ListOracle::ListOracle;

protected:
    [[nodiscard]] Wide used(Now now) const override {
        const std::int64_t current = index_of(now.at.time_since_epoch(), window());
        const Nanoseconds into = now.at.time_since_epoch() - current * window();
        Wide sum = 0;
        for (const Charge& charge : charges()) {
            const std::int64_t index = index_of(charge.now.at.time_since_epoch(), window());
            const Wide weight = index == current       ? scale()
                                : index == current - 1 ? scale() - passed({}, Instant{into})
                                                       : 0;
            sum += charge.units * weight;
        }
        return sum;
    }
    [[nodiscard]] Wide scale() const override {
        return static_cast<Wide>(static_cast<std::uint64_t>(window().count()));
    }
};

class SubWindowOracle : public ListOracle {
public:
    SubWindowOracle(std::uint64_t count, Nanoseconds window, std::uint32_t buckets, bool strict)
        : ListOracle{count, window}, buckets_{buckets}, sums_{buckets + (strict ? 1 : 0)} {}

protected:
    [[nodiscard]] Wide used(Now now) const override {
        const Wide current = sub_window(now.at);
        Wide sum = 0;
        for (const Charge& charge : charges()) {
            sum += sub_window(charge.now.at) + sums_ > current ? charge.units : 0;
        }
        return sum;
    }

private:
    [[nodiscard]] Wide edge(Wide k) const {
        return k * static_cast<std::uint64_t>(window().count()) / buckets_;
    }
    // Found by walking to it from a guess.
    [[nodiscard]] Wide sub_window(Instant at) const {
        const Wide time = passed({}, at);
        Wide k = time * buckets_ / static_cast<std::uint64_t>(window().count());
        while (edge(k) > time) {
            --k;
        }
        while (edge(k + 1) <= time) {
            ++k;
        }
        return k;
    }
    std::uint32_t buckets_;
    std::uint32_t sums_;
};

class LogOracle : public ListOracle {
public:
    using ListOracle::ListOracle;

protected:
    [[nodiscard]] Wide used(Now now) const override {
        Wide sum = 0;
        for (const Charge& charge : charges()) {
            sum += charge.now.at + window() > now.at ? charge.units : 0;
        }
        return sum;
    }
};

}  // namespace sluice
