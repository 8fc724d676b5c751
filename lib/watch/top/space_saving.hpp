#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

// The most frequent keys of a stream in bounded memory, over a window that slides: the part of it
// that is running, and the one before. Every key with more than total/capacity is held. Of the
// running part no count is below the truth or above it by more than its `error`; of the part before
// a key may have more than is said where it made room for others then. Source: Metwally, Agrawal,
// El Abbadi, "Efficient computation of frequent and top-k elements in data streams", 2005; with
// weights, so the least is kept on a heap.
class SpaceSaving {
public:
    struct Part {
        std::uint64_t count = 0;
        std::uint64_t error = 0;  // counted for keys that were here before it, at most
        double squares = 0;       // of the weights in `count`: how many samples they come from
    };
    struct Counted {
        std::string key;
        Part now;
        Part before;
        std::uint64_t note = 0;  // the latest

        [[nodiscard]] std::uint64_t count() const noexcept { return now.count + before.count; }
    };

    explicit SpaceSaving(std::size_t capacity) noexcept : capacity_{capacity} {}

    // `weight` is at least 1.
    void add(std::string_view key, std::uint64_t weight, std::uint64_t note = 0);
    // A part of the window begins: what was in the one before the last is forgotten.
    void rotate();

    [[nodiscard]] const Counted* find(std::string_view key) const;
    // The most that a key which is not held may have been counted.
    [[nodiscard]] std::uint64_t least() const noexcept {
        return counted_.size() < capacity_ ? 0 : counted_.front().count();
    }
    // In no order.
    [[nodiscard]] const std::vector<Counted>& all() const noexcept { return counted_; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view key) const noexcept {
            return std::hash<std::string_view>{}(key);
        }
    };

    void sink(std::size_t at);
    void rise(std::size_t at);
    void swap(std::size_t a, std::size_t b);

    std::size_t capacity_;
    std::vector<Counted> counted_;  // a heap, the least count first
    std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
};

}  // namespace sluice
